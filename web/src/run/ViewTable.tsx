import { useState } from 'preact/hooks';
import { path, type Schemas } from '../api/client';
import { Waiting, Wide } from '../app/parts';
import { useLoaded } from '../app/useLoaded';

interface Props {
  id: string;
  connection: number;
  from: number;
  to: number;
}

/** The items in view as a table. Loaded when it is opened. */
export function ViewTable({ id, connection, from, to }: Props) {
  const [isOpen, setOpen] = useState(false);
  const address = path`/api/runs/${id}/timeline/${connection}/rows` + `?from_s=${from}&to_s=${to}`;
  const loaded = useLoaded<Schemas['ViewRows']>(isOpen ? address : undefined);
  const { content } = loaded;
  return (
    <details class="noprint" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The view as a table</summary>
      <Waiting of={loaded} what="the table" />
      {content && (
        <Wide label="Items in view">
          <p class="small">
            {content.rows.length < content.count ? `The first ${content.rows.length} of ${content.count} items.` : `${content.count} items.`}
          </p>
          <table>
            <thead>
              <tr>
                <th scope="col">Start</th>
                <th scope="col">Lane</th>
                <th scope="col">Item</th>
              </tr>
            </thead>
            <tbody>
              {content.rows.map((row, index) => (
                <tr key={index}>
                  <td>{row.instant}</td>
                  <td>{row.lane}</td>
                  <td class="t">{row.text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </details>
  );
}
