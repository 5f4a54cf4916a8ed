/** An import, made here because a check of the sources reads the imports of this file. */
function named(names: string, module: string): string {
  return `import { ${names} } from ${quoted(module)};`;
}

function quoted(text: string): string {
  return `'${text}'`;
}

/** The files of a new project, by their paths. They type-check, and their test passes. */
export const PROJECT_FILES: Readonly<Record<string, string>> = {
  'assize.config.ts': `${named('defineConfig', 'assize')}
${named('expenses', './domains/expenses.ts')}
${named('bankPay', './tools/bank-pay.ts')}

export default defineConfig({
  store: 'sqlite:./assize.db',
  domains: [expenses],
  tools: [bankPay],
  // Each world is a trajectory: one state, one chain of entries.
  worlds: { expenses: { domain: 'expenses' } },
  principals: {
    'agent:scout': {
      kinds: ['agent'],
      // The action, and the tool that it calls.
      grants: [{ actions: ['pay', 'bank.pay'] }],
    },
    'manager:grace': { kinds: ['counselor'] },
  },
});
`,
  'domains/expenses.ts': `${named('call, defineDomain, escalate, pass, reject', 'assize')}
${named('z', 'zod')}
${named('bankPay', '../tools/bank-pay.ts')}

const BUDGET_CENTS = 100_000;
const LARGE_CENTS = 10_000;

/** The payments of a team. A manager approves large ones, and the budget limits the sum. */
export const expenses = defineDomain({
  name: 'expenses',
  // Raise it when a rule or a schema changes, and run: npx assize upgrade expenses --reason TEXT
  // The runtime does not see a change in the code of a check by itself.
  version: '1',
  // By payee: a payment that waits for an answer holds up only those to the same payee.
  state: z.object({ paid: z.record(z.string(), z.int()) }),
  initial: { paid: {} },
  actions: {
    pay: {
      args: z.object({ to: z.string().min(1), cents: z.int().positive() }),
      apply: (state, { to, cents }) => {
        state.paid[to] = (state.paid[to] ?? 0) + cents;
      },
      // The runtime makes the call after the commit, once.
      calls: (_state, { to, cents }) => [call(bankPay, { to, cents })],
    },
  },
  // Checked in this order, on the state that the action would leave.
  invariants: ({ invariant, eachCall }) => [
    invariant('BUDGET', ['/paid'], ({ paid }) => {
      const cents = Object.values(paid).reduce((sum, each) => sum + each, 0);
      return cents <= BUDGET_CENTS ? pass : reject(\`\${cents} cents exceed the budget of \${BUDGET_CENTS}\`);
    }),
    eachCall('LARGE', bankPay, { channel: 'manager' }, ({ input: { cents } }) =>
      cents <= LARGE_CENTS ? pass : escalate(\`\${cents} cents need a manager\`),
    ),
  ],
  counselors: {
    manager: (principal) => principal === 'manager:grace',
    // Settles a call whose outcome is not known.
    operator: (principal) => principal === 'manager:grace',
  },
});
`,
  'domains/expenses.test.ts': `${named('createAssize', 'assize')}
${named('checkDomain', '@assize/testing')}
${named('expect, test', 'vitest')}
${named('bankPay', '../tools/bank-pay.ts')}
${named('expenses', './expenses.ts')}

test('the domain is pure, and each rule reads what it names', { timeout: 60_000 }, () => {
  const report = checkDomain(expenses);
  expect(report.ok, report.formatReport()).toBe(true);
});

test('a large payment waits for a manager, and the budget holds', async () => {
  const world = await createAssize({ store: 'memory:', domain: expenses, tools: [bankPay] });
  const pay = (cents: number) => world.propose({ action: 'pay', args: { to: 'ada', cents } });
  expect(await pay(200_000)).toMatchObject({ ruling: 'rejected', invariantId: 'BUDGET' });
  expect(await pay(50_000)).toMatchObject({ ruling: 'escalated', channel: 'manager' });
  await world.close();
});
`,
  'tools/bank-pay.ts': `${named('mkdirSync, writeFileSync', 'node:fs')}
${named('declareTool', 'assize/effects')}
${named('z', 'zod')}

/**
 * Stands for the API of a bank: one file for each payment, under the key of the call. A repeated
 * call with the same key changes nothing. \`httpTool\` of \`@assize/tools/http\` calls an API.
 */
export const bankPay = declareTool({
  name: 'bank.pay',
  input: z.strictObject({ to: z.string(), cents: z.int().positive() }),
  // A sink is keyed, queryable (it can be asked what it did) or blind.
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank:{to}'],
  execute: ({ to, cents }, { key }) => {
    mkdirSync('payments', { recursive: true });
    writeFileSync(\`payments/\${key.slice(0, 16)}.json\`, \`\${JSON.stringify({ to, cents })}\\n\`);
  },
});
`,
};

/** Files that a project may have already. They are left as they are. */
export const SHARED_FILES: Readonly<Record<string, string>> = {
  'package.json': `{
  "private": true,
  "type": "module",
  "scripts": {
    "dev": "assize serve --dev",
    "test": "vitest run",
    "typecheck": "tsc"
  }
}
`,
  'tsconfig.json': `{
  "compilerOptions": {
    "target": "es2024", "module": "nodenext", "types": ["node"], "strict": true,
    "skipLibCheck": true, "allowImportingTsExtensions": true, "noEmit": true
  }
}
`,
};

/** Lines of `.gitignore`: the root key, stores with the files beside them, and installed code. */
export const IGNORED: readonly string[] = [
  '*.root.key',
  '*.draft',
  '*.db',
  '*.db-*',
  '*.db.*',
  '*.token',
  'node_modules/',
  'payments/',
];
