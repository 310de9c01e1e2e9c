import { useEffect, useState } from 'preact/hooks';
import { get, path, type Schemas } from '../api/client';

export type Tile = Schemas['Tile'];
export type TimelineHead = Schemas['TimelineHead'];
export type Level = Schemas['Level'];

/** Tiles of one level that cover a view. */
export interface Shown {
  /** The run. */
  id: string;
  connection: number;
  level: Level;
  tiles: Tile[];
}

const MOST_TILES = 96;
const MOST_IN_VIEW = 4;
const LATE_MS = 250;
const cache = new Map<string, Tile>();

/** The finest level at which a view has few tiles. */
export function levelFor(head: TimelineHead, span: number): Level {
  const last = head.levels[head.levels.length - 1];
  const found = head.levels.find((level) => level.tile_s * MOST_IN_VIEW >= span) ?? last;
  if (!found) throw new Error('a time line without levels');
  return found;
}

export interface Loading {
  shown: Shown | undefined;
  error: string | undefined;
  isLate: boolean;
  again: () => void;
}

/** Loads the tiles of a view. The last tiles stay until all new ones are here. */
export function useTiles(id: string, head: TimelineHead | undefined, from: number, to: number): Loading {
  const [shown, set] = useState<Shown>();
  const [error, setError] = useState<string>();
  const [isLate, setLate] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const level = head && levelFor(head, to - from);
  const first = level ? Math.floor(from / level.tile_s) : 0;
  const last = level && head ? Math.floor(Math.min(to, head.duration_s) / level.tile_s) : 0;
  useEffect(() => {
    if (!head || !level) return;
    const abort = new AbortController();
    const late = setTimeout(() => setLate(true), LATE_MS);
    const arrived = (failure?: string) => {
      clearTimeout(late);
      if (abort.signal.aborted) return;
      setLate(false);
      setError(failure);
    };
    const show = async (begin: number, end: number) => {
      const wanted: Promise<Tile>[] = [];
      for (let i = Math.max(0, begin); i <= end && i * level.tile_s <= head.duration_s; i++) {
        wanted.push(tile(id, head.connection, level.level, i, abort.signal));
      }
      const tiles = await Promise.all(wanted);
      if (!abort.signal.aborted) set({ id, connection: head.connection, level, tiles });
      arrived();
    };
    // The neighbours are loaded last, so that a movement finds them.
    show(first, last)
      .then(() => show(first - 1, last + 1))
      .catch((failed: Error) => arrived(failed.message));
    return () => {
      clearTimeout(late);
      abort.abort();
    };
  }, [id, head?.connection, level?.level, first, last, attempt]);
  const isSame = shown?.id === id && shown.connection === head?.connection;
  return { shown: isSame ? shown : undefined, error, isLate, again: () => setAttempt(attempt + 1) };
}

async function tile(id: string, connection: number, level: number, index: number, signal: AbortSignal): Promise<Tile> {
  const address = path`/api/runs/${id}/timeline/${connection}/tiles/${level}/${index}`;
  const found = cache.get(address) ?? (await get<Tile>(address, signal));
  // The last used tile is the last of the map.
  cache.delete(address);
  cache.set(address, found);
  for (const oldest of cache.keys()) {
    if (cache.size <= MOST_TILES) break;
    cache.delete(oldest);
  }
  return found;
}
