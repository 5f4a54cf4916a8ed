import type { Command } from 'commander';
import { attenuateWrit } from './attenuate.ts';
import { issue } from './issue.ts';
import { key } from './key.ts';
import { revoke } from './revoke.ts';
import { showWrits } from './show.ts';
import { verifyWrit } from './verify.ts';

export function writ(program: Command): void {
  const command = program
    .command('writ')
    .description('issue, attenuate, show, revoke and verify writs');
  for (const register of [key, issue, attenuateWrit, showWrits, revoke, verifyWrit])
    register(command);
}
