import {
  BELIEVE_ACTION,
  type MemoryStatement,
  type StatementAuthor,
  type StatementMetadata,
  type StatementPlace,
} from '#kernel';
import {
  type CommitPayload,
  type EntryRow,
  type Hash,
  isHash,
  type LedgerStore,
  type PartitionName,
  readRow,
  ValueReader,
} from '#ledger';
import { Polynomial, type StatedClaim } from '#memory';
import { type ClaimStatement, idOf } from './statement-context.ts';

/** The claim of a write, and the entry that states it. */
export interface StatedWrite extends StatedClaim {
  readonly entry: Hash;
}

/** By write token; undefined for a claim that is erased, or stated by an action of the domain. */
export type StatedWrites = ReadonlyMap<string, StatedWrite | undefined>;

const WRITE = /^w:([0-9a-f]{64})#([0-9]+)$/;

/**
 * The claims behind the writes of these facts, as their entries state them.
 * @throws LedgerFault
 */
export async function statedWrites(
  store: LedgerStore,
  key: Uint8Array,
  facts: readonly { readonly provenance_id: string }[],
): Promise<StatedWrites> {
  const values = new ValueReader(store);
  const found = new Map<string, StatedWrite | undefined>();
  for (const [id, of] of writesOf(facts)) {
    const stated = await statedBy(store, values, key, id);
    for (const { token, n } of of) found.set(token, stated(n));
  }
  return found;
}

/** The source, the metadata and the author of a statement. */
export interface NotedStatement {
  readonly source?: string | undefined;
  readonly metadata?: StatementMetadata | undefined;
  readonly author?: StatementAuthor | undefined;
}

/**
 * The sources, metadata and authors of the statements behind these facts, by write token. Reads
 * less than `statedWrites`.
 *
 * @throws LedgerFault
 */
export async function notedStatements(
  store: LedgerStore,
  facts: readonly { readonly provenance_id: string }[],
): Promise<ReadonlyMap<string, NotedStatement>> {
  const values = new ValueReader(store);
  const found = new Map<string, NotedStatement>();
  for (const [id, of] of writesOf(facts)) {
    const stated = await statementsOf(store, values, id);
    for (const { token, n } of of) {
      const saying = stated?.sayings[n];
      if (saying !== undefined && isClaim(saying)) found.set(token, saying);
    }
  }
  return found;
}

/** The writes behind facts, by entry. */
function writesOf(
  facts: readonly { readonly provenance_id: string }[],
): ReadonlyMap<Hash, readonly { readonly token: string; readonly n: number }[]> {
  const tokens = new Set(facts.flatMap(({ provenance_id }) => tokensOf(provenance_id)));
  const writes = [...tokens].flatMap((token) => {
    const write = writeIn(token);
    return write === undefined ? [] : [{ token, ...write }];
  });
  return Map.groupBy(writes, ({ entry }) => entry);
}

/** The statements of a commit. Undefined if they are erased, or those of a domain's action. */
async function statementsOf(
  store: LedgerStore,
  values: ValueReader,
  id: Hash,
): Promise<
  | {
      readonly row: EntryRow;
      readonly payload: CommitPayload;
      readonly sayings: readonly MemoryStatement[];
    }
  | undefined
> {
  const row = await store.resolve(id);
  if (row?.kind !== 'commit') return undefined;
  const payload = readRow(row).payload as CommitPayload;
  if (payload.action.name !== BELIEVE_ACTION) return undefined;
  const args = await values.read(row, payload.action.args);
  if (!('value' in args)) return undefined;
  const { sayings } = args.value as unknown as { readonly sayings: readonly MemoryStatement[] };
  return { row, payload, sayings };
}

function isClaim(saying: MemoryStatement): saying is ClaimStatement {
  return saying.verb !== 'retract' && saying.verb !== 'withdraw';
}

/** The entry and the number of the statement that a write token names. Undefined: another token. */
export function writeIn(token: string): { readonly entry: Hash; readonly n: number } | undefined {
  const [, entry, n] = WRITE.exec(token) ?? [];
  return isHash(entry) ? { entry, n: Number(n) } : undefined;
}

/** The write token of a statement. */
export function writeTokenOf({ entry, n }: StatementPlace): string {
  return `w:${entry}#${n}`;
}

/** The tokens of writes in a provenance. */
export function writeTokensOf(provenance: string): readonly string[] {
  return tokensOf(provenance).filter((token) => token.startsWith('w:'));
}

/** The tokens of a provenance; a text in another form has none. */
export function tokensOf(provenance: string): readonly string[] {
  try {
    return Polynomial.read(provenance).tokens;
  } catch {
    return [];
  }
}

async function statedBy(
  store: LedgerStore,
  values: ValueReader,
  key: Uint8Array,
  id: Hash,
): Promise<(n: number) => StatedWrite | undefined> {
  const stated = await statementsOf(store, values, id);
  if (stated === undefined) return () => undefined;
  const { row, payload, sayings } = stated;
  const versions = await versionsIn(row, payload, values);
  return (n) => {
    const saying = sayings[n];
    if (saying === undefined || !isClaim(saying)) return undefined;
    return {
      entry: row.id,
      claim: idOf(key, saying, payload.proposal_id, n),
      object: saying.object,
      confidence: saying.confidence ?? 1,
      source: saying.source,
      assertedSeq: versions.get(nameKey(saying)) ?? 0,
      assertedFrom: startOf(saying) ?? payload.at,
      isOfAssistant: saying.author?.role === 'assistant',
    };
  };
}

function startOf(saying: ClaimStatement): string | undefined {
  return saying.verb === 'change' ? saying.from : saying.valid?.from;
}

/** The version of each changed partition. Its claims have it as their position. */
async function versionsIn(
  row: EntryRow,
  { delta }: CommitPayload,
  values: ValueReader,
): Promise<Map<string, number>> {
  const versions = new Map<string, number>();
  for (const { partition, version } of delta.beliefs) {
    const names = await values.read<never>(row, partition as never);
    if ('value' in names) versions.set(nameKey(names.value), version);
  }
  return versions;
}

export function nameKey({
  space,
  subject,
  predicate,
}: Pick<PartitionName, 'space' | 'subject' | 'predicate'>): string {
  return JSON.stringify([space, subject, predicate]);
}
