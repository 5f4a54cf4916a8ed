/**
 * The first steps of a person who has done nothing here yet: decide, see why, prove. The browser
 * keeps the ones that are done, also for the next person who signs in: another may prove.
 */
export type Step = 'decide' | 'why' | 'prove';

const PLACE = 'assize-first-steps';
/** The record of a person who needs no steps. */
const OFF = 'off';

/** The done steps. `unknown`: this browser has not started. Undefined: no steps are shown. */
export function stepsIn(record: string | null): readonly string[] | 'unknown' | undefined {
  if (record === null) return 'unknown';
  return record === OFF ? undefined : record.split(' ');
}

export function readSteps(): string | null {
  return localStorage.getItem(PLACE);
}

export function onSteps(changed: () => void): () => void {
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
}

export function beginSteps(): void {
  write('');
}

export function endSteps(): void {
  write(OFF);
}

/** A step that has not started, or is done, stays so. */
export function doneStep(step: Step): void {
  const done = stepsIn(readSteps());
  if (typeof done === 'object' && !done.includes(step)) write([...done, step].join(' ').trim());
}

/** The step that an answered request was. */
export function stepOf(method: string, path: string): Step | undefined {
  if (method === 'POST' && /^\/v1\/approvals\/.*(?:approve|reject|decide)$/.test(path))
    return 'decide';
  return path === '/v1/bundles' ? 'prove' : undefined;
}

/** The browser itself tells the other tabs only. */
function write(record: string): void {
  localStorage.setItem(PLACE, record);
  dispatchEvent(new StorageEvent('storage', { key: PLACE }));
}
