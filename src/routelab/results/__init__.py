"""Files that stages write: formats and their versions, provenance, fingerprints.

`atomic` writes files; `json_files`, `array_files` and `tables` have the code that is common to a
kind of file; `outcome` is how a job ended; `provenance`, `fingerprint` and `distributions` record
where a result comes from and when it is stale.
"""
