import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Schemas } from '../api/client';
import type { Live } from './live';

export type About = Schemas['About'];
export type CauseLook = Schemas['CauseLook'];

export interface Page {
  about: About;
  live: Live;
  theme: 'light' | 'dark';
  /** Says a sentence to screen readers. */
  say: (text: string) => void;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error('outside the page');
  return page;
}
