import { arg, checkArgument, type Json } from 'assize/internal/base';
import { hashBytes, readInstant, type Time } from 'assize/internal/canon';
import type { LedgerStore, LogStore } from 'assize/internal/ledger';
import { formatVerifierKey, type VerifierKey } from 'assize/internal/merkle';
import { RuntimeError } from 'assize/internal/runtime';
import { zip } from 'fflate';
import { readCheckpoint, requireContinuation } from '#checkpoints';
import {
  BUNDLE_BYTES_MAX,
  BUNDLE_FORMAT,
  type BundleFiles,
  CHECKPOINT,
  ENTRIES,
  KEYS,
  MANIFEST,
  PAGE,
  proofName,
  README,
  RECORDS,
  SCRIPT,
} from './form.ts';
import { linesOf } from './lines.ts';
import { proofsOf } from './proofs.ts';
import { recordsOf, signersOf } from './records.ts';
import type { BundleScope } from './scope.ts';
import { checkedScope } from './scope-form.ts';
import { selectEntries, tooLarge } from './select.ts';
import { bytesInPage, filledPage, hasSlot, jsonFile, readmeOf } from './texts.ts';
import { checkWrits } from './verify-writs.ts';

export interface BundleOptions {
  readonly scope: BundleScope;
  /** The signed checkpoint that all proofs lead to. It must cover the entries. */
  readonly checkpoint: string;
  /** The public key of the log. */
  readonly logKey: VerifierKey;
  /** Known witnesses. The bundle names the keys of those that cosigned the checkpoint. */
  readonly witnesses?: readonly VerifierKey[];
  /** The time that the bundle names as its own. */
  readonly madeAt: Time;
  /** The verifier in Python, to put into the bundle. Default: none. */
  readonly script?: string;
  /** The verifier as an HTML page without a bundle. Default: none. */
  readonly page?: string;
  /** Ends the work with its reason. */
  readonly signal?: AbortSignal;
}

/** A proof bundle: one zip file. */
export interface Bundle {
  readonly zip: Uint8Array;
  /** Number of entries, context included. */
  readonly entries: number;
  readonly inScope: readonly string[];
}

const KEY = arg.members({ name: arg.text, use: arg.text, id: arg.text, publicKey: arg.text });
const BUNDLE_OPTIONS = arg.options<BundleOptions>({
  scope: arg.any,
  checkpoint: arg.text,
  logKey: KEY,
  witnesses: arg.optional(arg.list(KEY)),
  madeAt: arg.any,
  script: arg.optional(arg.text),
  page: arg.optional(arg.of('a page with an empty element for the bundle', isPage)),
  signal: arg.optional(arg.of('an AbortSignal', (value) => value instanceof AbortSignal)),
});

/**
 * Makes a proof bundle (docs/reference/proof-bundle.md): entries, their context, and all that shows
 * offline that they are in the log. The same options and ledger give the same bytes.
 *
 * @throws RuntimeError `bad_argument`, `bad_checkpoint`, `not_found`, `not_checkpointed`,
 * `too_large`; LedgerFault for an entry that is not valid; ArgumentError `bad_argument`; the reason
 * of the signal
 */
export async function makeBundle(
  store: LedgerStore & LogStore,
  options: BundleOptions,
): Promise<Bundle> {
  checkArgument(BUNDLE_OPTIONS, options, 'options');
  const { checkpoint: signed, logKey, witnesses: known = [], script, page, signal } = options;
  const scope = checkedScope(options.scope);
  const madeAt = readInstant(options.madeAt);
  if (madeAt === undefined)
    throw new RuntimeError(
      'bad_argument',
      'madeAt is not a time. Pass a Date or a text such as 2026-03-23T09:00:00Z.',
    );
  const opened = readCheckpoint(signed, { origin: logKey.name, keys: [logKey] }, known);
  const { checkpoint, cosignatures } = opened;
  await requireContinuation(store, checkpoint);
  const { entries, inScope, values } = await selectEntries(
    store,
    scope,
    Number(checkpoint.size),
    signal,
  );
  const { text, ordered } = linesOf(entries, values);
  const witnesses = known.filter(({ name, id }) =>
    cosignatures.some(({ key }) => key.name === name && key.id === id),
  );
  const manifest = {
    format: BUNDLE_FORMAT,
    made_at: madeAt,
    scope,
    in_scope: inScope,
    entries: entries.length,
  } as const;
  const keys = {
    log: formatVerifierKey(logKey),
    witnesses: witnesses.map(formatVerifierKey),
    entries: signersOf(entries),
    writs: checkWrits(entries, ordered).issuers,
  };
  const files = new Map<string, Uint8Array>([
    [ENTRIES, Buffer.from(text)],
    [CHECKPOINT, Buffer.from(signed)],
    [KEYS, jsonFile(keys)],
    [
      RECORDS,
      jsonFile(recordsOf({ entries, values: ordered, checkpoint, witnesses, cosignatures })),
    ],
    [README, Buffer.from(readmeOf(manifest, checkpoint.origin))],
  ]);
  for (const [id, proof] of await proofsOf(store, entries, checkpoint, signed, signal))
    files.set(proofName(id), Buffer.from(proof));
  if (script !== undefined) files.set(SCRIPT, Buffer.from(script));
  const listed = [...files].map(
    ([name, bytes]) =>
      [
        name,
        { bytes: bytes.length, sha256: Buffer.from(hashBytes(bytes)).toString('hex') },
      ] as const,
  );
  const whole = { ...manifest, files: Object.fromEntries(listed) } as unknown as Json;
  const all = new Map([[MANIFEST, jsonFile(whole)], ...files]);
  requireSize(all, page);
  if (page !== undefined) all.set(PAGE, filledPage(page, all));
  return { zip: await packFiles(all), entries: entries.length, inScope };
}

function isPage(value: unknown): boolean {
  return typeof value === 'string' && hasSlot(value);
}

/** `page`: the page that will be filled with the files. */
function requireSize(files: BundleFiles, page: string | undefined): void {
  const sizeOf = (file: Uint8Array): number =>
    file.length + (page === undefined ? 0 : bytesInPage(file));
  const bytes = [...files.values()].reduce(
    (sum, file) => sum + sizeOf(file),
    Buffer.byteLength(page ?? ''),
  );
  if (bytes > BUNDLE_BYTES_MAX) throw tooLarge(`more than ${BUNDLE_BYTES_MAX} bytes`);
}

/** Every file has the same date, so that equal files make equal bytes. */
const DATE = '1980-01-01T00:00:00';

/** Large files are deflated in threads of their own. */
function packFiles(files: BundleFiles): Promise<Uint8Array> {
  const packed = [...files].map(
    ([name, bytes]) => [name, [bytes, { mtime: DATE, level: levelOf(name) }]] as const,
  );
  return new Promise((resolve, reject) => {
    zip(Object.fromEntries(packed) as never, (error, bytes) =>
      error === null ? resolve(bytes) : reject(error),
    );
  });
}

/** Hashes hardly get smaller, and there are thousands of proofs. */
function levelOf(name: string): 0 | 6 {
  return name.startsWith('proofs/') ? 0 : 6;
}
