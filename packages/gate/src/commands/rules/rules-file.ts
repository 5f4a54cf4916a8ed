import { CliError, project } from '@assize/command';
import { isRulesFile } from '../is-rules-file.ts';

/** The rules file that a command is about: the named one, or that of the configuration. */
export function rulesFileNamed(named: string | undefined): string {
  const path = named ?? project()?.policyFile;
  if (path !== undefined && isRulesFile(path)) return path;
  throw new CliError(
    'usage',
    'The configuration names no rules file. Name it, such as assize.yaml, or pass --config.',
  );
}
