"""Files that stages leave: formats and their versions, provenance, fingerprints.

`atomic` writes, `json_files`, `array_files` and `tables` hold what is common to a kind of file;
`topology_file`, `routes_file` and `outcome` are the formats; `provenance` and `fingerprint`, with
what `distributions` knows, say where a result comes from and when it is stale.
"""
