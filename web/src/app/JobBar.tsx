import { useState } from 'preact/hooks';
import { path, post } from '../api/client';
import { usePage } from './context';

/** The jobs of this server that run, failed, or are done and not dismissed. */
export function JobBar() {
  const { live, about } = usePage();
  const [hidden, setHidden] = useState<readonly number[]>([]);
  const shown = live.jobs.filter((job) => !hidden.includes(job.id)).slice(-4);
  if (!shown.length) return null;
  return (
    <section class="jobs noprint" aria-label="Jobs">
      {shown.map((job) => {
        const isOpen = job.state === 'waiting' || job.state === 'running';
        return (
          <div key={job.id}>
            <span>
              {job.title}: {job.state}
            </span>
            {job.state === 'running' && <progress max={1} value={job.progress} aria-label={`Progress of ${job.title}`} />}
            {job.message && <span class="err">{job.message}</span>}
            {job.result && <a href={`/run/${job.result}`}>Open the run</a>}
            {isOpen && !about.read_only && (
              <button type="button" onClick={() => void post(path`/api/jobs/${job.id}/stop`, {})}>
                Stop
              </button>
            )}
            {!isOpen && (
              <button type="button" onClick={() => setHidden([...hidden, job.id])}>
                Dismiss
              </button>
            )}
          </div>
        );
      })}
    </section>
  );
}
