import { generateKeys, type KeyPair } from '#canon';
import { CliError, note } from '../errors.ts';
import { anchorsPath, readAnchors } from '../store/anchors.ts';
import { readText } from '../store/log-files.ts';

/**
 * The key in a file of 64 hex digits, as writs are signed by. The public half looks the same, and would sign too, in nobody's
 * name: so what is known as one, in `publicKeys`, is refused.
 *
 * @throws CliError
 */
export function readPrivateKey(path: string, publicKeys: readonly string[] = []): KeyPair {
  const text = readText(path, 'The private key', 'it is a file of 64 hex digits').trim();
  if (!/^[0-9a-f]{64}$/.test(text)) throw new CliError('bad_input', `${path} is no private key: 64 hex digits.`);
  if (publicKeys.includes(text))
    throw new CliError('bad_input', `${path} has the public half of a key; to sign takes the private one.`);
  return generateKeys(Buffer.from(text, 'hex'));
}

/** Says it where root writs of a key do not count in the store, as far as its file of anchors tells. @throws CliError */
export function noteUnanchored(storeUrl: string, { publicKey }: KeyPair): void {
  const place = anchorsPath(storeUrl);
  if (place === undefined || readAnchors(storeUrl).includes(publicKey)) return;
  note(`The issuer is ${publicKey}, which is not in ${place}; the writ counts only where that key is an anchor.`);
}

/** @throws CliError for a key whose root writs do not count in the store; `does`: what only an anchor's key does from here */
export function requireAnchor(storeUrl: string, file: string | undefined, { publicKey }: KeyPair, does: string): void {
  if (readAnchors(storeUrl, file).includes(publicKey)) return;
  const place = file ?? anchorsPath(storeUrl) ?? 'no file';
  throw new CliError(
    'usage',
    `The key of ${publicKey} is none of the store's anchors (${place} has them); only an anchor's key ${does} from here.`,
  );
}
