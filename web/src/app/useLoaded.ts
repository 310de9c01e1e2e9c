import { useEffect, useState } from 'preact/hooks';
import { get } from '../api/client';

export interface Loaded<T> {
  content: T | undefined;
  error: string | undefined;
  /** Whether the content is being loaded for longer than a moment. */
  isLate: boolean;
  again: () => void;
}

/** Time after which the page says that content is being loaded. */
const LATE_MS = 250;

/** Loads an address, and again whenever it or `version` changes. The last content stays meanwhile. */
export function useLoaded<T>(address: string | undefined, version = 0): Loaded<T> {
  const [state, set] = useState<{ address?: string; content?: T; error?: string }>({});
  const [isLate, setLate] = useState(false);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (address === undefined) return;
    const abort = new AbortController();
    const timer = setTimeout(() => setLate(true), LATE_MS);
    get<T>(address, abort.signal)
      .then((content) => set({ address, content }))
      .catch((error: Error) => {
        if (!abort.signal.aborted) set({ address, error: error.message });
      })
      .finally(() => {
        clearTimeout(timer);
        if (!abort.signal.aborted) setLate(false);
      });
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [address, version, attempt]);
  return { content: state.content, error: state.error, isLate, again: () => setAttempt(attempt + 1) };
}
