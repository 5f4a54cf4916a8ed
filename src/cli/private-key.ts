import { generateKeys, type KeyPair } from 'assize';
import { anchorsPath, readAnchors } from './anchors.ts';
import { CliError } from './errors.ts';
import { readText } from './log-files.ts';

/** The key in a file of 64 hex digits, as writs are signed by. @throws CliError */
export function readPrivateKey(path: string): KeyPair {
  const text = readText(path, 'The private key', 'it is a file of 64 hex digits').trim();
  if (!/^[0-9a-f]{64}$/.test(text)) throw new CliError('bad_input', `${path} is no private key: 64 hex digits.`);
  return generateKeys(Buffer.from(text, 'hex'));
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
