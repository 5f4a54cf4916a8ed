/** The tour of the server: three worlds that scripted agents filled, without a model or a key. */

import { appendFileSync } from 'node:fs';
import type { Output } from '@assize/command';
import { COMMAND_LINE } from '@assize/command/operation';
import {
  type ConsoleFiles,
  type Credentials,
  credentialsOf,
  type Serving,
  serve,
} from '@assize/server/internal';
import { parseRuleTable, ruleTable } from 'assize/internal/authority';
import { addMicros } from 'assize/internal/canon';
import {
  type PrincipalKind,
  type ResolvedConfig,
  type RootKey,
  rootKeyOf,
} from 'assize/internal/config';
import { systemClock } from 'assize/internal/oracle';
import { openStore, type Store, sealKeys } from 'assize/internal/stores';
import { builtConsole, builtDocs, bundleVerifiers } from '../files/built-console.ts';
import { AgentClient } from './agent-client.ts';
import { BankServer, readBankLog } from './bank.ts';
import { lastDayOf } from './days.ts';
import { checkWorlds, withFreshAdvice } from './earlier-tour.ts';
import { ruledPayments } from './payment-log.ts';
import { playBills } from './play-bills.ts';
import { payCutReceipt, playExpenses } from './play-expenses.ts';
import { CUT_RECEIPT } from './receipts.ts';
import { playUdt } from './scenes.ts';
import { PEOPLE, tourConfig, WORLDS } from './tour-config.ts';
import {
  BANK_LOG,
  removeTour,
  SERVER_LOG,
  TOUR_STORE,
  tokenFile,
  writeTokenFile,
} from './tour-files.ts';
import { commandsOf, type TourReport, tellTour } from './tour-text.ts';

export interface TourOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Removes the files of an earlier tour first. */
  readonly fresh: boolean;
  readonly json: boolean;
  readonly out: Output;
  /** Stops the server. */
  readonly interruption: AbortSignal;
}

const DAY_MICROS = 86_400_000_000;
/** Marks the tokens of a tour. The next start replaces them. */
const TOKEN_NOTE = 'tour';

/**
 * Fills the worlds that are not filled yet, serves them, and says what to try. Resolves when the
 * interruption has stopped the server.
 *
 * @throws CliError `bad_input` for worlds that another version filled; the errors of `openStore`
 * and `serve`; the reason of an interruption before the server listens
 */
export async function runTour(options: TourOptions): Promise<void> {
  try {
    await fillAndServe(options);
  } catch (error) {
    throw withFreshAdvice(error);
  }
}

async function fillAndServe(options: TourOptions): Promise<void> {
  if (options.fresh) removeTour();
  const root = rootKeyOf(TOUR_STORE, {});
  const bank = await BankServer.open(BANK_LOG);
  try {
    // In a clone of the repository, the console is built while the worlds are filled.
    const consoleFiles = builtConsole();
    consoleFiles.catch(() => undefined);
    const store = await openStore(TOUR_STORE, sealKeys(root));
    try {
      const parts = { root, bank, store, config: tourConfig(bank.address, options) };
      await fillWorlds(parts, options.interruption);
      await serveWorlds(parts, await consoleFiles, options);
    } finally {
      await store.close();
    }
  } finally {
    await bank.close();
  }
}

/** The parts that the worlds are filled and served with. */
interface TourParts {
  readonly root: RootKey;
  readonly bank: BankServer;
  readonly store: Store;
  readonly config: ResolvedConfig;
}

async function fillWorlds(
  { root, bank, store, config }: TourParts,
  interruption: AbortSignal,
): Promise<void> {
  await checkWorlds(store, config.domains, root);
  const lastDay = await lastDayOf(store);
  await playUdt(store, root);
  await playBills(store, root, lastDay);
  interruption.throwIfAborted();
  if (await isPlayed(store)) return;
  await withToken(credentialsOf(store, root), (token) =>
    playExpenses(bank, token, lastDay, interruption),
  );
}

/** Serves the worlds until the interruption. */
async function serveWorlds(
  { root, store, config }: TourParts,
  consoleFiles: ConsoleFiles | undefined,
  { interruption, json, out }: TourOptions,
): Promise<void> {
  const serving = await serve({
    ...{ config, store, root, domains: config.domains },
    ...{ console: consoleFiles, docs: builtDocs() },
    linksAtStart: true,
    verifiers: await bundleVerifiers(),
    policyOf: (rules) => ruleTable(parseRuleTable(rules)),
    log: (text) => appendFileSync(SERVER_LOG, text, { mode: 0o600 }),
  });
  try {
    const credentials = credentialsOf(store, root);
    await finishPayment(serving, store, credentials, interruption);
    await renewTokens(credentials, config);
    const report = await reportOf(serving, store);
    if (json) out.document(report);
    else tellTour(out, report);
    await Promise.race([ended(interruption), serving.lost]);
  } finally {
    await serving.stop();
  }
}

/** Whether the agent of the world `expenses` has made its last proposal. */
async function isPlayed(store: Store): Promise<boolean> {
  return (await ruledPayments(store)).some(({ receipt }) => receipt === CUT_RECEIPT);
}

/**
 * Makes the payment that the kill cut. The agent asks again with the same key, and gets the ruling
 * of its first request.
 */
async function finishPayment(
  serving: Serving,
  store: Store,
  credentials: Credentials,
  interruption: AbortSignal,
): Promise<void> {
  await serving.service.assize.recoverEffects(interruption);
  const lastDay = await lastDayOf(store);
  await withToken(credentials, (token) =>
    payCutReceipt(new AgentClient(serving.url, token), lastDay),
  );
}

/** Gives the work a token of the agent, and revokes the token after it. */
async function withToken<T>(
  { tokens }: Credentials,
  work: (token: string) => Promise<T>,
): Promise<T> {
  const { token, row } = await createToken({ tokens }, PEOPLE.agent, ['agent']);
  try {
    return await work(token);
  } finally {
    await tokens.revoke(row.id);
  }
}

/** Replaces the tokens of an earlier start. The new ones are in files, and on no command line. */
async function renewTokens(
  credentials: Credentials,
  { principals }: ResolvedConfig,
): Promise<void> {
  const { tokens } = credentials;
  for await (const { id, note } of tokens.list()) if (note === TOKEN_NOTE) await tokens.revoke(id);
  for (const [word, name] of Object.entries(PEOPLE)) {
    const { token } = await createToken(credentials, name, principals.get(name)?.kinds ?? []);
    writeTokenFile(tokenFile(word), token);
  }
}

function createToken(
  { tokens }: Pick<Credentials, 'tokens'>,
  principal: string,
  kinds: readonly PrincipalKind[],
) {
  const created = systemClock.now();
  const expires = addMicros(created, DAY_MICROS);
  return tokens.create({ principal, kinds, created, expires, by: COMMAND_LINE, note: TOKEN_NOTE });
}

/** The contents of the worlds, read from the ledger and from the log of the bank. */
async function reportOf(serving: Serving, store: Store): Promise<TourReport> {
  const payments = await ruledPayments(store);
  const worlds = await Promise.all(
    WORLDS.map(async (world) => ({ world, entries: (await store.entries(world)).length })),
  );
  return {
    url: serving.url,
    worlds,
    payments,
    bank: readBankLog(BANK_LOG),
    sign_in: {
      manager: await serving.signInLink(PEOPLE.manager),
      auditor: await serving.signInLink(PEOPLE.auditor),
    },
    commands: commandsOf(serving.url, payments),
  };
}

function ended(interruption: AbortSignal): Promise<void> {
  const done = Promise.withResolvers<void>();
  if (interruption.aborted) done.resolve();
  interruption.addEventListener('abort', () => done.resolve(), { once: true });
  return done.promise;
}
