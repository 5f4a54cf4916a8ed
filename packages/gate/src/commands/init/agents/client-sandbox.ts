import { CliError } from '@assize/command';
import type { SandboxProfile } from '#gateway';
import { sandboxOfRules } from '../../sandbox/profile-in-force.ts';
import type { FoundServer } from '../own-server.ts';
import { firstRules } from '../server-files.ts';
import type { HookTerms } from './hook-command.ts';

/** The places and hosts of the rules, for the sandbox that an agent program has itself. */
export interface ClientSandbox {
  readonly profile: SandboxProfile;
  readonly project: string;
  /** How its hook finds the sandbox. */
  readonly terms: Pick<HookTerms, 'sandbox' | 'sandboxDigest'>;
}

interface Client {
  /** Its name in rules and in commands. */
  readonly agent: 'claude-code' | 'codex';
  /** The file of settings that turns the sandbox on. */
  readonly settings: string;
  /** Files of its hooks that no command reads. */
  readonly hidden: readonly string[];
}

/** The sandbox of the rules of a server. The rules may not be written yet. */
export async function clientSandbox(
  server: string,
  { files }: Pick<FoundServer, 'files'>,
  { agent, settings, hidden }: Client,
): Promise<ClientSandbox> {
  const isNew = files.length > 0;
  const place = isNew
    ? { server, text: firstRules('${project}', { hasSandbox: true }) }
    : { server };
  const { profile, project, digest } = await sandboxOfRules(place, { agent });
  const others = profile.unreadable.filter((each) => !hidden.includes(each));
  return {
    profile: { ...profile, unreadable: [...others, ...hidden] },
    project,
    terms: { sandbox: settings, sandboxDigest: digest },
  };
}

/** @throws CliError `usage` for settings with a sandbox that Assize has not written */
export function refuseOwnSandbox(settings: string, isThere: boolean): void {
  if (!isThere) return;
  throw new CliError(
    'usage',
    `${settings} has a sandbox of its own. Take it out, or leave --sandbox.`,
  );
}

/** The fault of a sandbox that differs from that of the rules. */
export function otherSandbox(agent: Client['agent'], settings: string): string {
  return `the sandbox in ${settings} is not that of the rules; run assize init ${agent} --sandbox again`;
}
