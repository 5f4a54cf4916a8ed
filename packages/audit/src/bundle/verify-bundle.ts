import { arg, checkArgument, isInstance, type Json } from 'assize/internal/base';
import { canonicalize, WORLD_LIMITS } from 'assize/internal/canon';
import type { Hash } from 'assize/internal/ledger';
import type { VerifierKey } from 'assize/internal/merkle';
import { type BundleFault, BundleRefusal, must } from './fault.ts';
import { type BundleFiles, type BundleManifest, ENTRIES, RECORDS } from './form.ts';
import { readJson, readKeys, readManifest, textOf } from './read-files.ts';
import { type ReadLines, readLines } from './read-lines.ts';
import { recordsOf, signersOf } from './records.ts';
import { type BundleScope, isInScope, writOf } from './scope.ts';
import { unpackFiles } from './unzip.ts';
import { verifyChains } from './verify-chains.ts';
import { openBundleCheckpoint, verifyProofs } from './verify-proofs.ts';
import { verifyValues } from './verify-values.ts';
import { checkWrits } from './verify-writs.ts';
import { subjectIn, writChain, writsIn } from './writs.ts';

export interface VerifyBundleOptions {
  /** The key of the log, from a source that the bundle's sender does not control. */
  readonly logKey?: VerifierKey;
  /** Witnesses that must have cosigned. */
  readonly witnesses?: readonly VerifierKey[];
}

/** The verdict about a proof bundle. */
export type BundleVerdict =
  | {
      readonly valid: true;
      readonly scope: BundleScope;
      readonly madeAt: string;
      /** Number of entries, context included. */
      readonly entries: number;
      readonly inScope: readonly Hash[];
      readonly checkpoint: { readonly origin: string; readonly size: number; readonly root: Hash };
      /** `bundle`: no key was given, so the bundle only agrees with itself. */
      readonly logKey: 'given' | 'bundle';
      /** Names of the witnesses that cosigned, by keys of the bundle. */
      readonly witnesses: readonly string[];
      /** Number of values that were erased. */
      readonly erased: number;
      readonly records: Json;
    }
  | { readonly valid: false; readonly fault: BundleFault };

const KEY = arg.members({ name: arg.text, use: arg.text, id: arg.text, publicKey: arg.text });
const VERIFY_OPTIONS = arg.options<VerifyBundleOptions>({
  logKey: arg.optional(KEY),
  witnesses: arg.optional(arg.list(KEY)),
});

/**
 * Verifies a proof bundle offline (docs/reference/proof-bundle.md). Trusts nothing in it. The
 * verdict has the first fault that was found.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function verifyBundle(
  zip: Uint8Array,
  options: VerifyBundleOptions = {},
): Promise<BundleVerdict> {
  checkArgument(arg.bytes, zip, 'zip');
  checkArgument(VERIFY_OPTIONS, options, 'options');
  try {
    return await verified(unpackFiles(zip), options);
  } catch (error) {
    if (!isInstance(error, BundleRefusal)) throw error;
    return { valid: false, fault: error.fault };
  }
}

async function verified(
  files: BundleFiles,
  { logKey, witnesses = [] }: VerifyBundleOptions,
): Promise<BundleVerdict> {
  const manifest = readManifest(files);
  const keys = readKeys(files);
  const opened = openBundleCheckpoint(files, keys, {
    ...(logKey !== undefined && { logKey }),
    witnesses,
  });
  const text = textOf(files.get(ENTRIES) as Uint8Array);
  must(text !== undefined, 'bad_form', 'entries.jsonl is not UTF-8');
  const lines = readLines(text);
  const { entries, values } = lines;
  must(entries.length === manifest.entries, 'bad_manifest', `there are ${entries.length} entries`);
  verifyProofs(files, entries, opened);
  await verifyValues(lines);
  verifyChains(entries);
  const { issuers, fault } = checkWrits(entries, values);
  must(fault === undefined, 'bad_writ', fault ?? '');
  const own = { entries: signersOf(entries), writs: issuers };
  must(
    isSame(own, { entries: keys.entries, writs: keys.writs }),
    'keys_differ',
    'keys.json has other keys of entries or writs',
  );
  verifyScope(manifest, lines);
  const { checkpoint, cosignatures } = opened;
  const records = recordsOf({
    entries,
    values,
    checkpoint,
    witnesses: opened.witnesses,
    cosignatures,
  });
  must(
    isSame(records, readJson(files, RECORDS)),
    'records_differ',
    'records.json is not what the entries say',
  );
  return {
    valid: true,
    scope: manifest.scope,
    madeAt: manifest.made_at,
    entries: entries.length,
    inScope: manifest.in_scope,
    checkpoint: {
      origin: checkpoint.origin,
      size: Number(checkpoint.size),
      root: Buffer.from(checkpoint.root).toString('hex'),
    },
    logKey: logKey === undefined ? 'bundle' : 'given',
    witnesses: opened.witnesses.map(({ name }) => name),
    erased: [...values.values()].filter((value) => 'by' in value).length,
    records,
  };
}

/** The entries in scope are those that the manifest names. @throws BundleRefusal */
function verifyScope(
  { scope, in_scope: named }: BundleManifest,
  { entries, values }: ReadLines,
): void {
  const firsts = new Map(
    entries.map(({ payload }) => [payload.trajectory_id, payload] as const).reverse(),
  );
  const found = entries.filter((entry) =>
    isInScope(scope, entry, (payload) => {
      const id = writOf(payload);
      const first = firsts.get(payload.trajectory_id);
      if (id === undefined || first === undefined) return undefined;
      const [writ] = writChain(id, writsIn(first), (hash) => {
        const value = values.get(hash);
        return value !== undefined && 'text' in value ? value.text : undefined;
      }).chain;
      return subjectIn(writ?.writ);
    }),
  );
  must(
    isSame(
      found.map(({ id }) => id),
      [...named],
    ),
    'scope_differs',
    'in_scope does not name the entries in scope',
  );
  if (scope.kind === 'approval')
    must(
      found[0]?.payload.kind === 'pending_approval',
      'scope_differs',
      `${scope.approval} is not a pending entry`,
    );
  if (scope.kind !== 'period') return;
  const last = new Map<string, number>();
  for (const { id, payload } of found) {
    const before = last.get(payload.trajectory_id);
    const follows = before === undefined || payload.seq === before + 1;
    must(follows, 'scope_differs', `an entry of the period before ${id} is missing`);
    last.set(payload.trajectory_id, payload.seq);
  }
}

function isSame(one: Json, other: Json): boolean {
  return canonicalize(one, WORLD_LIMITS) === canonicalize(other, WORLD_LIMITS);
}
