/**
 * A payment of an agent of each framework: it waits, is approved in the console by its link, is
 * made once, and the ledger verifies. With `ASSIZE_SCREENSHOTS` the test keeps its pictures.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectGate } from '#calls';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { verifyStore } from '#runtime';
import { expectAccessible, showIn, withConsole } from '../support/console/browser.ts';
import { startAiSdk } from '../support/frameworks/ai-sdk.ts';
import { ASKED, LAST_WORDS, type Payment, type StartHeld } from '../support/frameworks/held-run.ts';
import { startLangChain } from '../support/frameworks/langchain.ts';
import { startMastra } from '../support/frameworks/mastra.ts';
import { startOnce } from '../support/frameworks/once.ts';
import { startOpenAIAgents } from '../support/frameworks/openai-agents.ts';
import { startPython } from '../support/frameworks/python.ts';
import { hasMastra } from '../support/mastra/packages.ts';
import { hasPython } from '../support/process/python-verifier.ts';

const FRAMEWORKS: Readonly<Record<string, StartHeld>> = {
  langchain: startLangChain,
  'ai-sdk': startAiSdk,
  'openai-agents': startOpenAIAgents,
  mastra: startMastra,
  once: startOnce,
  python: startPython,
};
/** The frameworks that a machine may lack, with how the test names them. */
const ABSENT: Readonly<Record<string, string>> = {
  ...(!hasMastra && { mastra: 'Mastra (absent without npm ci --prefix peers)' }),
  ...(!hasPython && { python: 'Python (absent without python3)' }),
};

const { rules } = readRules(`
id: bills
tools:
  bank/pay: { class: irreversible }
rules:
  - { id: small, allow: bank/pay, where: [{ path: /euros, max: 100 }] }
  - { id: large, ask: bank/pay, where: [{ path: /euros, min: 101 }] }
`);
const folder = process.env['ASSIZE_SCREENSHOTS'];

withConsole(({ serve, open }) => {
  const made = async (name: string, run: StartHeld): Promise<void> => {
    const grants = [{ trajectories: ['calls'], actions: ['call', 'begin', 'report', 'session'] }];
    const server = await serve({
      config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
      principals: {
        'agent:ada': { kinds: ['agent'], grants },
        'manager:grace': { kinds: ['counselor'] },
      } as never,
      domains: [gateway({ rules }) as unknown as Domain],
      rules,
    });
    const place = { url: server.url, token: await server.tokenFor('agent:ada') };
    const gate = connectGate({ ...place, server: 'bank' });
    const paid: Payment[] = [];
    const pay = async (payment: Payment) => {
      paid.push(payment);
      return `paid ${payment.euros} to ${payment.to}`;
    };
    const held = await run(gate, pay, place);
    const page = await open(server, 'manager:grace', new URL(held.page).pathname);
    await page.getByRole('button', { name: /^Approve/ }).waitFor();
    await page.getByText('eve').first().waitFor();
    await page.getByText('Live').waitFor();
    await expectAccessible(page);
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true });
      for (const scheme of ['dark', 'light'] as const) {
        await showIn(page, scheme);
        await page.screenshot({ path: join(folder, `${name}-${scheme}-1280.png`) });
      }
    }
    expect(paid).toEqual([]);
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('Nothing waits').waitFor();
    expect(await held.resume()).toBe(LAST_WORDS);
    expect(paid).toEqual([ASKED]);
    await gate.close();
    expect((await verifyStore(server.store)).map(({ valid }) => valid)).toEqual([true]);
  };
  for (const [name, run] of Object.entries(FRAMEWORKS)) {
    const title = ABSENT[name] ?? name;
    test.skipIf(name in ABSENT)(`${title}: a payment is approved in the console`, () =>
      made(name, run),
    );
  }
});
