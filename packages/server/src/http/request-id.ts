import { randomUUID } from 'node:crypto';

const ids = new WeakMap<Request, string>();
const forwarded = new WeakSet<Request>();

/** The id of a request, for its log lines and its problem document. Never a value of the client. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request) ?? randomUUID();
  ids.set(request, known);
  return known;
}

/** Gives a request the id that it has at the server that forwarded it. */
export function adoptRequestId(request: Request, id: string): void {
  ids.set(request, id);
  forwarded.add(request);
}

/** Whether another server of the store forwarded the request. */
export function isForwarded(request: Request): boolean {
  return forwarded.has(request);
}
