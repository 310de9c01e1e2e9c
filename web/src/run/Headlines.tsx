import type { Schemas } from '../api/client';
import type { RunPage } from './RunView';

/** The first metrics, each beside the mean of the replications and its interval. */
export function Headlines({ run }: { run: RunPage }) {
  const hasPlaces = run.headlines.some((metric) => metric.place);
  return (
    <>
      <dl class="m" aria-label="Headline metrics">
        {run.headlines.map((metric) => (
          <div key={metric.name} title={metric.of}>
            <dt>{metric.label}</dt>
            <dd>
              {metric.text} <span>{metric.unit}</span>
              {metric.place && <PlaceMark place={metric.place} />}
              {metric.interval && <span class="was">mean {metric.interval}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {hasPlaces && (
        <p class="small">
          Number and mark: this run. Mean and band: {run.replications} runs, with the 95 % interval. Line: smallest to largest.
        </p>
      )}
    </>
  );
}

function PlaceMark({ place }: { place: Schemas['Place'] }) {
  const percent = (position: number) => `${100 * position}%`;
  return (
    <svg class="place" aria-hidden="true">
      <line class="range" x1="0" x2="100%" y1="5" y2="5" />
      <rect class="band" x={percent(place.low)} width={percent(place.high - place.low)} y="3" height="4" />
      <svg x={percent(place.run)} overflow="visible">
        <rect class="mark" x="-1" width="2" y="0" height="10" />
      </svg>
    </svg>
  );
}
