import type { Json } from 'assize/internal/base';
import { canonicalize, WORLD_LIMITS } from 'assize/internal/canon';
import { type BundleFiles, type BundleManifest, PAGE } from './form.ts';

/** A JSON file of a bundle: canonical text and one newline. */
export function jsonFile(value: Json): Uint8Array {
  return Buffer.from(`${canonicalize(value, WORLD_LIMITS)}\n`);
}

const SLOT = '<script type="application/json" id="bundle"></script>';

/** Whether a page has the place for a bundle, once. */
export function hasSlot(page: string): boolean {
  return page.split(SLOT).length === 2;
}

/** The page with the bundle's other files in it, so that the page verifies when it is opened. */
export function filledPage(page: string, files: BundleFiles): Uint8Array {
  const texts = Object.fromEntries(
    [...files]
      .filter(([name]) => name !== PAGE)
      .map(([name, bytes]) => [name, Buffer.from(bytes).toString('utf8')]),
  );
  const filled = SLOT.replace('><', () => `>${JSON.stringify(texts).replaceAll('<', '\\u003c')}<`);
  return Buffer.from(page.replace(SLOT, () => filled));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LESS_THAN = 0x3c;
/** Control characters with a short escape in JSON. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);

/** The size of a file's text in the filled page. A page with it could be too long for memory. */
export function bytesInPage(file: Uint8Array): number {
  let bytes = 0;
  for (const byte of file) {
    if (byte === LESS_THAN) bytes += 6;
    else if (byte === QUOTE || byte === BACKSLASH) bytes += 2;
    else if (byte >= 0x20) bytes += 1;
    else bytes += SHORT_ESCAPES.has(byte) ? 2 : 6;
  }
  return bytes;
}

/** `README.txt`: how to verify, for a reader that has only the bundle. */
export function readmeOf(
  { scope, in_scope, entries, made_at }: Omit<BundleManifest, 'files'>,
  origin: string,
): string {
  const { kind, ...named } = scope;
  const about = Object.entries(named).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `A proof bundle of an Assize ledger

About:   ${[kind === 'entry' || kind === 'approval' ? '' : kind, ...about].join(' ').trim()}
Log:     ${JSON.stringify(origin)}
Made at: ${made_at}, with ${in_scope.length} entries in scope and ${entries - in_scope.length} as context

The bundle shows that its entries are in the signed log, unchanged. To verify it:
  assize bundle --verify BUNDLE.zip --log-key KEY
  python3 verify.py BUNDLE.zip --log-key KEY
  or open verify.html, and enter the key.

Take the verifier and the key of the log (and keys of witnesses, with --witness) from a place
that the sender of this bundle does not control. The copies in the bundle are for convenience:
with them alone, the bundle only shows that it agrees with itself.
No proof shows that an entry is absent. The format is described in docs/reference/proof-bundle.md.
`;
}
