"""What a survey keeps of its runs."""
