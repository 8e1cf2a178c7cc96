"""The plugins that come with routelab, on equal footing with anyone else's."""
