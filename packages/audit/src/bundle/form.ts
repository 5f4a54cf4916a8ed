import type { Json } from 'assize/internal/base';
import type { Hash, Instant, Payload } from 'assize/internal/ledger';
import type { BundleScope } from './scope.ts';

/** The names and limits of a proof bundle (docs/reference/proof-bundle.md). */
export const BUNDLE_FORMAT = 'assize/proof-bundle/v1';

export const MANIFEST = 'manifest.json';
export const ENTRIES = 'entries.jsonl';
export const CHECKPOINT = 'checkpoint';
export const KEYS = 'keys.json';
export const RECORDS = 'records.json';
export const README = 'README.txt';
export const SCRIPT = 'verify.py';
export const PAGE = 'verify.html';

/** Maximum number of entries of a bundle, its context included. */
export const BUNDLE_ENTRIES_MAX = 10_000;
/** Maximum size of the unpacked files together. */
export const BUNDLE_BYTES_MAX = 268_435_456;

export function proofName(id: Hash): string {
  return `proofs/${id}.tlog-proof`;
}

/** The only names that a file of a bundle may have. */
export const FILE_NAME: RegExp =
  /^(?:manifest\.json|entries\.jsonl|checkpoint|keys\.json|records\.json|README\.txt|verify\.(?:py|html)|proofs\/[0-9a-f]{64}\.tlog-proof)$/;

/** The files that every bundle has. */
export const REQUIRED: readonly string[] = [ENTRIES, CHECKPOINT, KEYS, RECORDS, README];

/** The files of a bundle, by name. */
export type BundleFiles = ReadonlyMap<string, Uint8Array>;

export interface BundleManifest {
  readonly format: typeof BUNDLE_FORMAT;
  readonly made_at: Instant;
  readonly scope: BundleScope;
  readonly in_scope: readonly Hash[];
  readonly entries: number;
  readonly files: { readonly [name: string]: { readonly bytes: number; readonly sha256: Hash } };
}

/** The public keys that a bundle brings. They prove nothing alone. */
export interface BundleKeys {
  readonly log: string;
  readonly witnesses: readonly string[];
  readonly entries: readonly string[];
  readonly writs: readonly string[];
}

/** An entry of a bundle. `text` is the canonical text of the payload. */
export interface BundledEntry {
  readonly id: Hash;
  readonly index: number;
  readonly text: string;
  readonly payload: Payload;
}

/** A value that entries of a bundle refer to: its text, or the entry that erased it. */
export type BundledValue = { readonly text: string } | { readonly by: Hash };

/** Whether a value is an object with just these members. */
export function hasJust(
  value: unknown,
  needed: readonly string[],
  more: readonly string[] = [],
): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return (
    needed.every((name) => names.includes(name)) &&
    names.every((name) => needed.includes(name) || more.includes(name))
  );
}

export type JsonObject = { readonly [name: string]: Json };
