import { useState } from 'preact/hooks';
import { get, path, type Schemas } from '../api/client';
import { usePage } from '../app/context';

export type Found = Schemas['Found'];

interface Props {
  id: string;
  connection: number;
  /** The search begins at this instant, unless an item was found before. */
  at: number;
  show: (found: Found) => void;
}

/** Searches the time line for an instant, byte, packet, PDU, sequence number or cause. */
export function Search({ id, connection, at, show }: Props) {
  const { say } = usePage();
  const [text, setText] = useState('');
  const [last, setLast] = useState<{ text: string; connection: number; time: number }>();
  const [message, setMessage] = useState('');
  const search = (backward: boolean) => {
    const query = text.trim();
    if (!query) return;
    const from = last?.text === query && last.connection === connection ? last.time : at;
    const address = path`/api/runs/${id}/timeline/${connection}/search` + `?query=${encodeURIComponent(query)}&at_s=${from}&backward=${backward}`;
    get<Found>(address)
      .then((found) => {
        const matches = found.lane === null ? '' : ` ${found.count} ${found.count === 1 ? 'match' : 'matches'}.`;
        setMessage(found.text + matches);
        if (found.text) say(found.text);
        if (!found.count) return;
        setLast({ text: query, connection, time: found.time_s });
        show(found);
      })
      .catch((failed: Error) => {
        setMessage(failed.message);
        say(failed.message);
      });
  };
  return (
    <>
      <label>
        Find{' '}
        <input
          class="goto"
          aria-label="Find an instant, byte, packet, PDU or cause"
          placeholder="66.28 s, byte 1001, pdu 1423, channel switch"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') search(event.shiftKey);
          }}
        />
      </label>
      <div class="kinds" role="group" aria-label="Matches">
        <button type="button" aria-label="Previous match" disabled={!text.trim()} onClick={() => search(true)}>
          ‹
        </button>
        <button type="button" aria-label="Next match" disabled={!text.trim()} onClick={() => search(false)}>
          ›
        </button>
      </div>
      {message && <span class="small">{message}</span>}
    </>
  );
}
