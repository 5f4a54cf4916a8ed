import { loadDomains, note, project } from '@assize/command';
import { isRulesFile } from '@assize/gate/internal/commands/is-rules-file.ts';
import { rulesFileIn } from '@assize/gate/internal/commands/rules-files.ts';
import { gateway, type RulesFile } from '@assize/gate/internal/gateway';
import { isAssizeError } from 'assize/internal/base';
import type { Tool } from 'assize/internal/effects';
import type { Domain } from 'assize/internal/kernel';
import type { LedgerStore } from 'assize/internal/ledger';
import { DomainActions } from 'assize/internal/views';

/**
 * The domains of the project and the shipped ones. The gateway has the rules file and the tools of
 * the configuration, unless the project has its own.
 */
export async function projectDomains(
  file: RulesFile | undefined,
  tools: readonly Tool[],
): Promise<Domain[]> {
  const all = await loadDomains();
  if (project()?.domains.some(({ name }) => name === 'gateway') === true) return all;
  const own = gateway({
    tools: tools.filter(({ name }) => name.includes('.')),
    ...(file !== undefined && { rules: file.rules, presented: file.presented }),
  });
  return [own, ...all.filter(({ name }) => name !== 'gateway')];
}

/** The words of these domains. A rules file with faults has none, and is noted. */
export async function projectWords(store: LedgerStore): Promise<DomainActions> {
  return new DomainActions(store, await projectDomains(readableRules(), []));
}

function readableRules(): RulesFile | undefined {
  const path = project()?.policyFile;
  if (path === undefined || !isRulesFile(path)) return undefined;
  try {
    return rulesFileIn(path);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    note(error.message);
    return undefined;
  }
}
