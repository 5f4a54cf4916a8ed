import { toPointer } from './pointer.ts';

/** One misfit of the arguments, with its JSON Pointer. */
export interface Finding {
  readonly pointer: string;
  readonly message: string;
}

/** The messages about a place itself. `isWhole`: about the places below it too. */
export function messagesAt(
  findings: readonly Finding[],
  path: readonly string[],
  isWhole: boolean,
): string | undefined {
  const here = toPointer(path);
  const own = findings.filter(
    ({ pointer }) => pointer === here || (isWhole && pointer.startsWith(`${here}/`)),
  );
  if (own.length === 0) return undefined;
  return own
    .map(({ pointer, message }) => (pointer === here ? message : `${pointer}: ${message}`))
    .join('; ');
}
