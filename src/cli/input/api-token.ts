import { readFileSync } from 'node:fs';
import { CliError } from '../errors.ts';
import { whileBlocked } from '../terminal/interrupt.ts';

/**
 * The token of a client of the API. It is never an argument, which other users of the machine can
 * read.
 *
 * @throws CliError `usage`
 */
export function apiToken(file: string | undefined): string {
  const token = file === undefined ? process.env['ASSIZE_TOKEN'] : whileBlocked(() => readFileSync(file, 'utf8'));
  if (token !== undefined && token.trim() !== '') return token.trim();
  throw new CliError('usage', 'The token is missing. Set ASSIZE_TOKEN, or pass --token-file FILE.');
}

/** The address of a server. @throws CliError `usage` */
export function apiAddress(url: string): string {
  if (URL.canParse(url)) return url;
  throw new CliError('usage', `'${url}' is not a URL. Pass --url http://HOST:PORT.`);
}
