import {
  dim,
  green,
  line,
  type Output,
  type Printable,
  red,
  shortJson,
  yellow,
} from '@assize/command';
import { valueAt } from '@assize/command/operation';
import type { Json } from 'assize/internal/base';
import { canonicalize, WORLD_LIMITS } from 'assize/internal/canon';
import type { Patch } from 'assize/internal/ledger';

const PAINT = { add: green, replace: yellow, remove: red } as const;

/** Each change of a state with its short values. */
export function changeTable(
  out: Output,
  title: string,
  patches: readonly Patch[],
  state: Json,
): void {
  out.table(
    [{ title }, { title: 'path' }, { title: 'before' }, { title: 'after' }],
    patches.map((patch) => {
      const { before, after } = valuesOf(patch, state);
      return [
        PAINT[patch.op](patch.op),
        patch.path || '(all)',
        before === undefined ? '' : shortJson(before),
        after === undefined ? '' : shortJson(after),
      ];
    }),
  );
}

/** A change with its whole values, one below the other. */
export function changeLines(patch: Patch, state: Json): Printable[] {
  const { op, path } = patch;
  const { before, after } = valuesOf(patch, state);
  const valueLine = (when: string, value: Json | undefined): Printable[] =>
    value === undefined ? [] : [line`    ${dim(when)} ${canonicalize(value, WORLD_LIMITS)}`];
  return [
    line`  ${PAINT[op](op)} ${path || '(all)'}`,
    ...valueLine('before', before),
    ...valueLine('after', after),
  ];
}

function valuesOf(patch: Patch, state: Json) {
  return {
    before: patch.op === 'add' ? undefined : valueAt(state, patch.path),
    after: patch.op === 'remove' ? undefined : (patch.value as Json),
  };
}
