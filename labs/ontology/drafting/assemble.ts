import { moduleSource } from '../module-source.ts';
import { keySource, textSource } from '../state-tree.ts';
import type { Answer } from './answer.ts';
import type { Derived } from './holes.ts';

/** A fragment of an answer, and the sort of expression that may stand in its hole. */
export interface Fragment {
  /** Such as `action lend: apply`. */
  readonly where: string;
  readonly source: string;
  readonly sort: 'schema' | 'function';
}

/** The text of a module, with the place of each fragment in it. */
export interface Assembled {
  readonly text: string;
  /** In the order of the text. `from` counts characters, from 0; `to` is after the last one. */
  readonly spans: readonly { readonly where: string; readonly from: number; readonly to: number }[];
}

export function fragmentsOf({ schemas, actions, invariants }: Answer): Fragment[] {
  return [
    ...Object.entries(schemas).map(([place, source]) =>
      fragment(`schema ${place}`, source, 'schema'),
    ),
    ...actions.flatMap(({ name, args, apply }) => [
      fragment(`action ${name}: args`, args, 'schema'),
      fragment(`action ${name}: apply`, apply, 'function'),
    ]),
    ...Object.entries(invariants).flatMap(([id, { check, onApprove }]) => [
      fragment(`invariant ${id}: check`, check, 'function'),
      ...(onApprove === undefined
        ? []
        : [fragment(`invariant ${id}: onApprove`, onApprove, 'function')]),
    ]),
  ];
}

function fragment(where: string, source: string, sort: Fragment['sort']): Fragment {
  return { where, source, sort };
}

/** No text of an ontology or a literal has this character. */
const MARK = '\u0000';

/** The scaffold with the fragments in its holes, and the initial state as a literal. */
export function assemble(
  { ontology, roles, invariants }: Derived,
  answer: Pick<Answer, 'initial' | 'actions'>,
  fragments: readonly Fragment[],
): Assembled {
  const held = (where: string): string => `${MARK}${where}${MARK}`;
  const template = moduleSource(ontology, roles, invariants, {
    note: 'Made from the ontology, with parts that a model has drafted.',
    schemaAt: (place) => held(`schema ${place}`),
    initial: literalSource(answer.initial),
    actions: answer.actions.map(({ name, process }) => ({
      ...{
        name,
        process,
        args: held(`action ${name}: args`),
        apply: held(`action ${name}: apply`),
      },
      description: ontology.processes.find((one) => one.process === process)?.definition ?? '',
    })),
    check: (id) => held(`invariant ${id}: check`),
    onApprove: (id) => held(`invariant ${id}: onApprove`),
    uses: ['pass'],
  });
  const sources = new Map(fragments.map(({ where, source }) => [where, source]));
  const spans: { where: string; from: number; to: number }[] = [];
  let text = '';
  for (const [i, piece] of template.split(MARK).entries()) {
    const source = i % 2 === 1 ? sources.get(piece) : undefined;
    if (source !== undefined)
      spans.push({ where: piece, from: text.length, to: text.length + source.length });
    text += source ?? piece;
  }
  return { text, spans };
}

/** A JSON value as a literal. A member called `__proto__` is a field like any other. */
export function literalSource(value: unknown): string {
  if (typeof value === 'string') return textSource(value);
  if (Array.isArray(value)) return `[${value.map(literalSource).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, member]) => `${keySource(key)}: ${literalSource(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
