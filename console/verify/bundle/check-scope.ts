import { isObject, isReferenceLike } from '../entries/basic-forms.ts';
import type { Counselor, Entry, Payload } from '../entries/payloads.ts';
import type { Writ } from '../writs/writ.ts';
import type { Findings } from './findings.ts';
import type { LedgerPart } from './ledger-part.ts';
import type { Manifest } from './manifest.ts';
import type { Scope } from './scope.ts';
import { writNamedBy } from './writ-of.ts';

/** Finds the entries in scope again, and compares them with the manifest's list. */
export function checkScope(
  part: LedgerPart,
  { scope, in_scope: stated }: Manifest,
  findings: Findings,
): void {
  const found = part.entries.filter((entry) => isInScope(entry, scope, part));
  const ids = found.map(({ id }) => id);
  if (ids.length !== stated.length || ids.some((id, n) => id !== stated[n]))
    findings.fault(
      'scope_differs',
      `${ids.length} entries are in scope, and the manifest names ${stated.length} or others.`,
    );
  if (scope.kind !== 'period') return;
  for (const chain of Map.groupBy(found, ({ payload }) => payload.trajectory_id).values())
    for (const [n, { id, payload }] of chain.entries())
      if (n > 0 && payload.seq !== (chain[n - 1] as Entry).payload.seq + 1)
        findings.fault('scope_differs', 'An entry before it is in the period, and is missing.', id);
}

function isInScope(entry: Entry, scope: Scope, part: LedgerPart): boolean {
  const { id, payload } = entry;
  if (scope.kind === 'entry') return id === scope.entry;
  if (scope.kind === 'approval')
    return id === scope.approval && payload.kind === 'pending_approval';
  const { from, to, trajectory } = scope;
  if (from !== undefined && to !== undefined && (payload.at < from || payload.at >= to))
    return false;
  if (trajectory !== undefined && payload.trajectory_id !== trajectory) return false;
  return (
    scope.kind === 'period' || namesOf(entry, part).some((name) => isSameName(name, scope.person))
  );
}

/** The persons that an entry is of. */
function namesOf({ payload }: Entry, part: LedgerPart): readonly string[] {
  return [
    ...approversOf(payload).map(({ principal }) => principal),
    ...namesInArgs(payload),
    ...subjectOf(payload, part),
  ];
}

function approversOf(payload: Payload): readonly Counselor[] {
  const counselor =
    'counselor' in payload && payload.counselor !== undefined ? [payload.counselor] : [];
  return [...counselor, ...('approved_by' in payload ? (payload.approved_by ?? []) : [])];
}

function namesInArgs(payload: Payload): readonly string[] {
  if (payload.kind !== 'commit') return [];
  const { name, args } = payload.action;
  if (isReferenceLike(args) || !isObject(args)) return [];
  if (name === 'assize.halt') return texts([args['principal']]);
  if (name !== 'assize.settle') return [];
  const { settled, decided } = args as {
    readonly settled?: readonly { readonly effects: readonly { readonly by?: string }[] }[];
    readonly decided?: { readonly by: string };
  };
  return texts([
    decided?.by,
    ...(settled ?? []).flatMap(({ effects }) => effects.map(({ by }) => by)),
  ]);
}

function subjectOf(payload: Payload, part: LedgerPart): readonly string[] {
  const id = writNamedBy(payload);
  const writ = id === undefined ? undefined : part.writ(id, payload.trajectory_id);
  return isObject(writ) ? texts([(writ as unknown as Writ).subject]) : [];
}

function texts(values: readonly unknown[]): readonly string[] {
  return values.filter((value) => typeof value === 'string');
}

const LONG = 512;

function isSameName(a: string, b: string): boolean {
  const composed = (text: string) => (text.length > LONG ? text : text.normalize('NFC'));
  return composed(a) === composed(b);
}
