import { EXIT, inSession, installedVersion, line, withoutStore } from '@assize/command';
import type { Command } from 'commander';

export function version(program: Command): void {
  withoutStore(
    program.command('version').description('print the version of assize and of Node'),
  ).action(
    inSession(async ({ json, out }) => {
      const versions = { assize: installedVersion(), node: process.versions.node };
      if (json) out.document(versions);
      else out.line(line`${versions.assize}`);
      return EXIT.ok;
    }),
  );
}
