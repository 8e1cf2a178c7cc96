"""An executor whose jobs get no environment, as with some submit commands of clusters."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    pass_envvar_declarations_to_cmd=True,
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=0,
)
NAMES = ("HOME", "PATH", "PYTHONPATH")


class Executor(RemoteExecutor):
    """Jobs are processes of this machine; each job's text goes into a file `job-NUMBER`.

    If there is a file `ended`, what a run removes at its end is gone before jobs start.
    """

    def run_job(self, job):
        if Path("ended").exists():
            shutil.rmtree("results/.plan/steps")
        script = self.get_jobscript(job)
        self.write_jobscript(job, script)
        environment = {name: os.environ[name] for name in NAMES if name in os.environ}
        with Path(f"job-{job.jobid}").open("w") as printed:
            process = subprocess.Popen(
                ["/bin/sh", script], env=environment, stdout=printed, stderr=printed
            )
        self.report_job_submission(
            SubmittedJobInfo(job, external_jobid=str(process.pid), aux={"process": process})
        )

    async def check_active_jobs(self, active_jobs):
        for info in active_jobs:
            code = info.aux["process"].poll()
            if code is None:
                yield info
            elif code == 0:
                self.report_job_success(info)
            else:
                self.report_job_error(info, msg=f"It ended with exit code {code}.")

    def cancel_jobs(self, active_jobs):
        for info in active_jobs:
            info.aux["process"].terminate()
