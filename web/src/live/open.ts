import { post, type Schemas } from '../api/client';
import { go } from '../app/route';

/** Starts a live session, and shows it. */
export async function openLive(request: Partial<Schemas['LiveRequest']> & { scenario: string }): Promise<void> {
  const { id } = await post<Schemas['LiveStarted']>('/api/live', request);
  go(`/live/${encodeURIComponent(id)}`);
}
