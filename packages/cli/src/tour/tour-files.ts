import { closeSync, fchmodSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

/** The files of the tour, in the working folder. All begin with the name of its store. */
const STORE_FILE = 'assize-tour.db';

export const TOUR_STORE = `sqlite:./${STORE_FILE}`;
export const BANK_LOG = `${STORE_FILE}.bank.jsonl`;
export const SERVER_LOG = `${STORE_FILE}.server.jsonl`;

/** The file of a principal's token: a header line that `curl -H @FILE` sends. */
export function tokenFile(name: string): string {
  return `${STORE_FILE}.${name}`;
}

/** Writes a header with a token. No other user can read the file. */
export function writeTokenFile(path: string, token: string): void {
  rmSync(path, { force: true });
  const file = openSync(path, 'wx', 0o600);
  try {
    fchmodSync(file, 0o600);
    writeFileSync(file, `Authorization: Bearer ${token}\n`);
  } finally {
    closeSync(file);
  }
}

/** Removes every file of the tour. */
export function removeTour(): void {
  for (const name of readdirSync('.'))
    if (
      name === STORE_FILE ||
      name.startsWith(`${STORE_FILE}-`) ||
      name.startsWith(`${STORE_FILE}.`)
    )
      rmSync(name, { force: true });
}
