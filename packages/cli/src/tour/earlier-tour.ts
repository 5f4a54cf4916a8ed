import { CliError } from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import type { RootKey } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { Assize } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { WORLDS } from './tour-config.ts';

export const FRESH_ADVICE =
  'Start the sample worlds over with --fresh: npm start -- --fresh, or assize serve --tour --fresh. It removes them, and your decisions in them.';

const OTHER_VERSION = 'Another version of Assize filled the sample worlds of this folder.';

/** The meaning of errors in worlds that another version, or another folder, filled. */
const MEANINGS: Readonly<Record<string, string>> = {
  domain_mismatch: OTHER_VERSION,
  idempotency_conflict: OTHER_VERSION,
  store_other_schema: OTHER_VERSION,
  store_copied:
    'The sample worlds of this folder are a copy, and only their original calls the bank.',
};

/** @throws RuntimeError `domain_mismatch` for a world of another version of the tour */
export async function checkWorlds(
  store: Store,
  domains: readonly Domain[],
  root: RootKey,
): Promise<void> {
  const assize = new Assize({ store, domains, anchors: [root.publicKey] });
  try {
    for (const world of WORLDS)
      if ((await store.head(world)) !== undefined) await assize.open(world);
  } finally {
    await assize.close();
  }
}

/** The error with advice to start over, if the worlds of this folder are its cause. */
export function withFreshAdvice(error: unknown): unknown {
  const meaning = isAssizeError(error) ? MEANINGS[error.code] : undefined;
  return meaning === undefined
    ? error
    : new CliError('bad_input', `${meaning} ${FRESH_ADVICE}`, { cause: error });
}
