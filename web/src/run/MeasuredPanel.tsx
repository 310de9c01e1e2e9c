import { useEffect } from 'preact/hooks';
import { path, type Schemas } from '../api/client';
import { Swatch } from '../app/causes';
import { usePage } from '../app/context';
import { Waiting } from '../app/parts';
import { useLoaded } from '../app/useLoaded';

interface Props {
  id: string;
  connection: number;
  from: number;
  to: number;
  close: () => void;
}

/** Duration, bytes, packets and causes between two instants. */
export function MeasuredPanel({ id, connection, from, to, close }: Props) {
  const { say } = usePage();
  const address = path`/api/runs/${id}/timeline/${connection}/measure` + `?from_s=${from}&to_s=${to}`;
  const loaded = useLoaded<Schemas['Measured']>(address);
  const { content } = loaded;
  useEffect(() => {
    if (content) say(`${content.duration}: ${content.numbers.map((number) => `${number.label} ${number.text}`).join(', ')}`);
  }, [content]);
  return (
    <div class="note measured" role="region" aria-label="Measured">
      <Waiting of={loaded} what="the numbers" />
      {content && (
        <>
          <b>{content.duration}</b> from {content.from_s.toFixed(4)} s to {content.to_s.toFixed(4)} s
          <dl>
            {content.numbers.map((number) => (
              <div key={number.name}>
                <dt>{number.label}</dt>
                <dd>{number.text}</dd>
              </div>
            ))}
            {content.causes.map((part) => (
              <div key={part.cause}>
                <dt>
                  <Swatch cause={part.cause} />
                  {part.label}
                </dt>
                <dd>{part.text}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      <button type="button" class="noprint" onClick={close}>
        Close
      </button>
    </div>
  );
}
