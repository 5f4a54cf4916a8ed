import { Argument, type Command, InvalidArgumentError } from 'commander';
import { CliError } from '../../../errors.ts';
import { repeatable, withoutStore } from '../../../files/options.ts';
import { inSession, type Session } from '../../../store/session.ts';
import { serverOption } from '../own-server.ts';
import { check } from './check.ts';
import { CLIENTS, type ClientName } from './clients.ts';
import { install } from './install.ts';
import type { Options } from './options.ts';
import { overview } from './overview.ts';
import { undo } from './undo.ts';

/** `assize init mcp`: puts the gateway in front of the MCP servers that a client has already. */
export function initMcp(init: Command): void {
  withoutStore(
    init
      .command('mcp')
      .description('put a server of Assize in front of the MCP servers of a client')
      .addArgument(
        new Argument('[client]', `one of ${CLIENTS.join(', ')} (default: list the servers of all)`).argParser(known),
      )
      .option('--file <file>', 'the client’s file, if it has another place')
      .addOption(repeatable('--only <name>', 'only the server that has this name in the client’s file'))
      .addOption(serverOption())
      .option('--url <url>', 'address of the server (default: that of its configuration)')
      .option('--rules', 'list the tools of each server, and propose rules for them')
      .option('--yes', 'write without a question')
      .option('--undo', 'take the gateway out again')
      .option('--check', 'start each gateway, and say which tools it shows'),
  ).action(
    inSession((session: Session, options: Options, client?: ClientName) => {
      if (options.check === true && options.undo === true)
        throw new CliError('usage', 'Pass either --check or --undo.');
      if (options.check === true) return check(session, client, options);
      if (options.undo === true) return undo(session, client, options);
      if (client === undefined && options.file === undefined) return overview(session, options);
      return install(session, client, options);
    }),
  );
}

function known(text: string): ClientName {
  const found = CLIENTS.find((name) => name === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`Name one of ${CLIENTS.join(', ')}, or a file with --file.`);
}
