import { useState } from 'preact/hooks';
import { path, type Schemas } from '../api/client';
import { useLoaded } from '../app/useLoaded';

interface Props {
  id: string;
  chosen: string | undefined;
  choose: (key: string | undefined) => void;
}

/** Chooses a second run for the same axis. The list is loaded when it is needed. */
export function OtherRun({ id, chosen, choose }: Props) {
  const [isNeeded, setNeeded] = useState(chosen !== undefined);
  const loaded = useLoaded<Schemas['ComparableRuns']>(isNeeded ? path`/api/runs/${id}/comparable` : undefined);
  const runs = loaded.content?.runs ?? [];
  return (
    <label>
      Second run{' '}
      <select
        class="other"
        aria-label="Second run on the same axis"
        value={chosen ?? ''}
        onFocus={() => setNeeded(true)}
        onPointerDown={() => setNeeded(true)}
        onChange={(event) => choose(event.currentTarget.value || undefined)}
      >
        <option value="">none</option>
        {chosen !== undefined && !runs.some((run) => run.key === chosen) && <option value={chosen}>{chosen}</option>}
        {runs.map((run) => (
          <option key={run.key} value={run.key}>
            {run.label}
          </option>
        ))}
      </select>
    </label>
  );
}
