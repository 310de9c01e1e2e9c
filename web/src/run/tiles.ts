// Loads the time line of a connection in tiles. A level cuts the run into tiles of equal length; the finer the level,
// the shorter its tiles. A view is drawn from a few tiles of the level that fits its length.
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

/** Maximum number of tiles in the cache. The one that was not used for the longest time is removed first. */
const MAX_CACHED = 96;
/** Maximum length of a view, in tiles of its level. */
const MAX_TILES_IN_VIEW = 4;
/** Time after which the page says that it waits for tiles. */
const LATE_MS = 250;
const cache = new Map<string, Tile>();

/** The finest level at which a view has few tiles. */
export function levelFor(head: TimelineHead, span: number): Level {
  const last = head.levels[head.levels.length - 1];
  const finest = head.levels.find((level) => level.tile_s * MAX_TILES_IN_VIEW >= span) ?? last;
  if (!finest) throw new Error('a time line without levels');
  return finest;
}

export interface Loading {
  shown: Shown | undefined;
  error: string | undefined;
  isLate: boolean;
  again: () => void;
}

/** Loads the tiles of a view. The tiles of the last view stay until all new ones have arrived. */
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
    const show = async (firstIndex: number, lastIndex: number) => {
      const requests: Promise<Tile>[] = [];
      for (let i = Math.max(0, firstIndex); i <= lastIndex && i * level.tile_s <= head.duration_s; i++) {
        requests.push(tile(id, head.connection, level.level, i, abort.signal));
      }
      const tiles = await Promise.all(requests);
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
  const content = cache.get(address) ?? (await get<Tile>(address, signal));
  // A map keeps the order of insertion, so the tile that was used last is at its end.
  cache.delete(address);
  cache.set(address, content);
  for (const oldest of cache.keys()) {
    if (cache.size <= MAX_CACHED) break;
    cache.delete(oldest);
  }
  return content;
}
