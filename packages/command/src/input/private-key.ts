import { generateKeys, type KeyPair } from 'assize/internal/canon';
import { CliError, note } from '../errors.ts';
import { readText } from '../files/input-file.ts';
import { anchorsPath, readAnchors } from '../store/anchors.ts';
import { anchoredRoot } from '../store/root-key.ts';

/**
 * The private key in a file of 64 hex digits. It signs writs. A public key has the same form,
 * and would sign writs that no principal owns. A key in `publicKeys` is therefore refused.
 *
 * @throws CliError
 */
export function readPrivateKey(path: string, publicKeys: readonly string[] = []): KeyPair {
  const text = readText(path, 'The private key', 'Name a file of 64 hex digits').trim();
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new CliError('bad_input', `${path} is not a private key. Name a file of 64 hex digits.`);
  if (publicKeys.includes(text))
    throw new CliError(
      'bad_input',
      `${path} contains a public key. Name the file of the private key.`,
    );
  return generateKeys(Buffer.from(text, 'hex'));
}

/**
 * The private key of `--key`, or the root key of the store.
 *
 * @throws the errors of `readPrivateKey`; CliError `usage` without a root key; ConfigError
 */
export function keyOrRoot(
  storeUrl: string,
  options: { readonly key?: string; readonly anchors?: string },
): KeyPair {
  if (options.key !== undefined)
    return readPrivateKey(options.key, readAnchors(storeUrl, options.anchors));
  return anchoredRoot(storeUrl, '. Pass the private key of an anchor with --key FILE.');
}

/**
 * Notes that root writs of a key do not count in the store, according to its anchors file.
 * @throws CliError
 */
export function noteUnanchored(storeUrl: string, { publicKey }: KeyPair): void {
  const place = anchorsPath(storeUrl);
  if (place === undefined || readAnchors(storeUrl).includes(publicKey)) return;
  note(
    `The issuer ${publicKey} is not in ${place}. The writ counts only in stores with this anchor.`,
  );
}

/**
 * @throws CliError unless root writs of the key count in the store; `does`: the operation that
 * needs an anchor's key, as `to erase`
 */
export function requireAnchor(
  storeUrl: string,
  file: string | undefined,
  { publicKey }: KeyPair,
  does: string,
): void {
  if (readAnchors(storeUrl, file).includes(publicKey)) return;
  const place = file ?? anchorsPath(storeUrl) ?? 'no file';
  throw new CliError(
    'usage',
    `The public key ${publicKey} is not an anchor of the store (${place}). Pass the private key of an anchor ${does}.`,
  );
}
