import { addMicros } from '#canon';
import { type ResolvedConfig, rootKeyOf } from '#config';
import { systemClock } from '#oracle';
import { type Credentials, credentialsOf } from '#server';
import { openStore } from '#stores';
import type { AgentName } from './agent-server.ts';

const TOKEN_DAYS = 365;
const DAY_MICROS = 86_400_000_000;

/** A new token of an agent, for the hooks in a file. */
export function newToken(config: ResolvedConfig, principal: AgentName, file: string): Promise<string> {
  return withCredentials(config, async ({ tokens }) => {
    const created = systemClock.now();
    const expires = addMicros(created, TOKEN_DAYS * DAY_MICROS);
    return (await tokens.create({ principal, kinds: ['agent'], created, expires, note: `hooks in ${file}` })).token;
  });
}

/** Revokes the tokens that the store knows. Returns how many. */
export async function revoke(config: ResolvedConfig, tokens: readonly string[]): Promise<number> {
  if (tokens.length === 0) return 0;
  return withCredentials(config, async (credentials) => {
    let count = 0;
    for (const token of tokens) {
      const row = await credentials.tokens.verify(token, systemClock.now()).catch(() => undefined);
      if (row !== undefined && (await credentials.tokens.revoke(row.id))) count++;
    }
    return count;
  });
}

async function withCredentials<T>(config: ResolvedConfig, work: (credentials: Credentials) => Promise<T>): Promise<T> {
  const store = await openStore(config.store);
  try {
    return await work(credentialsOf(store, rootKeyOf(config.store)));
  } finally {
    await store.close();
  }
}
