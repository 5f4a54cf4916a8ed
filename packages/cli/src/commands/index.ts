/**
 * The commands of the core, and the domains of the core, of this package and of a clone.
 *
 * In the order of the help: work first, then ledger, humans and audit.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cloneFolder, type Feature } from '@assize/command';
import type { Domain } from 'assize/internal/kernel';

export const core: Feature = {
  name: 'core',
  commands: {
    demo: async () => (await import('./demo.ts')).demo,
    init: async () => (await import('./init/index.ts')).init,
    domains: async () => (await import('./domains.ts')).domains,
    serve: async () => (await import('./serve.ts')).serve,
    create: async () => (await import('./create.ts')).create,
    propose: async () => (await import('./propose.ts')).propose,
    log: async () => (await import('./log.ts')).log,
    show: async () => (await import('./show.ts')).show,
    state: async () => (await import('./state.ts')).state,
    verify: async () => (await import('./verify.ts')).verify,
    branch: async () => (await import('./branch.ts')).branch,
    upgrade: async () => (await import('./upgrade.ts')).upgrade,
    diff: async () => (await import('./diff.ts')).diff,
    pending: async () => (await import('./pending.ts')).pending,
    approve: async () => (await import('./approve.ts')).approve,
    reject: async () => (await import('./reject.ts')).reject,
    effects: async () => (await import('./effects.ts')).effects,
    memory: async () => (await import('./memory/index.ts')).memory,
    erase: async () => (await import('./erase.ts')).erase,
    halt: async () => (await import('./halt.ts')).halt,
    writ: async () => (await import('./writ/index.ts')).writ,
    keys: async () => (await import('./keys.ts')).keys,
    bundle: async () => (await import('./bundle.ts')).bundle,
    archive: async () => (await import('./archive.ts')).archive,
    backup: async () => (await import('./backup.ts')).backup,
    restore: async () => (await import('./restore.ts')).restore,
    doctor: async () => (await import('./doctor.ts')).doctor,
    completion: async () => (await import('./completion.ts')).completion,
    export: async () => (await import('./export.ts')).exportCommand,
    import: async () => (await import('./import.ts')).importCommand,
  },
  domains: async () => {
    const [{ budget }, { udt }, { expenses }, { agentsDomain }, more] = await Promise.all([
      import('../domains/budget/index.ts'),
      import('../domains/udt/index.ts'),
      import('../tour/expenses.ts'),
      import('assize/internal/config'),
      examples(),
    ]);
    return [
      budget,
      udt,
      expenses,
      agentsDomain(),
      ...((await more?.domains()) ?? []),
    ] as readonly Domain[];
  },
  domainsWithoutInvariants: async () => (await examples())?.domainsWithoutInvariants() ?? [],
};

/** The exports of `examples/domains` in a clone: airline and shop of tau-bench, and more. */
interface Examples {
  domains(): Promise<Domain[]>;
  domainsWithoutInvariants(): Promise<Domain[]>;
}

async function examples(): Promise<Examples | undefined> {
  const clone = cloneFolder();
  if (clone === undefined) return undefined;
  return (await import(pathToFileURL(join(clone, 'examples/domains/index.ts')).href)) as Examples;
}
