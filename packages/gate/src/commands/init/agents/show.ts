import { join } from 'node:path';
import { bold, CliError, EXIT, type ExitCode, line, type Session } from '@assize/command';
import { isInstance } from 'assize/internal/base';
import type { ResolvedConfig } from 'assize/internal/config';
import type { Copy } from '../copied-file.ts';
import { nextCommands, observationNotes } from '../own-server.ts';

/** An installation of hooks: the file that has them, and the files that were written for it. */
export interface Installed {
  readonly settings: string;
  readonly files: readonly string[];
  readonly version: string;
  readonly config: ResolvedConfig;
  /** The address that the hooks have. */
  readonly address: string;
  readonly server: string;
  readonly program: string;
}

export function showInstalled(
  { out, json }: Session,
  { settings, files, version, config, address, server, program }: Installed,
): ExitCode {
  const { serve, signIn } = nextCommands(config, address);
  if (json) out.document({ settings, server, files: [...files], version, serve, signIn });
  else {
    for (const file of [...files, settings]) out.line(line`${file}`);
    out.line(line``);
    out.line(bold('Next'));
    out.line(line`  ${serve}`);
    out.line(line`  ${signIn}`);
    out.line(line`  Start ${program} here. Rules: ${join(server, 'assize.yaml')}`);
    for (const text of observationNotes(config)) out.line(line`  ${text}`);
  }
  return EXIT.ok;
}

interface Removed {
  readonly revoked: number;
  readonly copy: Copy | undefined;
}

export function showRemoved(
  { out, json }: Session,
  settings: string,
  { revoked, copy }: Removed,
): ExitCode {
  if (json) {
    out.document({ settings, revoked });
    return EXIT.ok;
  }
  const tokens = revoked === 1 ? 'its token is' : `${revoked} tokens are`;
  out.line(line`${settings} has no hooks of Assize any more, and ${tokens} revoked.`);
  if (copy?.isCurrent === false) showKept(out, settings, copy);
  return EXIT.ok;
}

/** A file that was changed after `assize init` loses only what the command has written. */
export function showKept(out: Session['out'], path: string, copy: Copy): void {
  out.line(
    line`${path} was changed after assize init, and keeps these changes. The text of before is in ${copy.path}`,
  );
}

/** Shows the faults of an installation, or that there are none, and what is worth to know. */
export function showFaults(
  { out, json }: Session,
  settings: string,
  { faults, notes }: { readonly faults: readonly string[]; readonly notes: readonly string[] },
): ExitCode {
  const isOk = faults.length === 0;
  if (json) out.document({ settings, ok: isOk, faults: [...faults], notes: [...notes] });
  else {
    const said = isOk ? ['The hooks are complete, and the server answers.'] : faults;
    for (const each of [...said, ...notes]) out.line(line`${each}`);
  }
  return isOk ? EXIT.ok : EXIT.negative;
}

/** The message of an error that a person can mend, as a fault. */
export function faultOf(error: unknown): string[] {
  if (isInstance(error, CliError)) return [error.message];
  throw error;
}
