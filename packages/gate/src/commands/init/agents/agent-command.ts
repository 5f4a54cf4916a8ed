import {
  type ExitCode,
  inSession,
  type Session,
  type StorelessOptions,
  upTo,
  withoutStore,
} from '@assize/command';
import { type Command, Option } from 'commander';
import { WAIT_SECONDS_MAX } from '../../hook/hook-line.ts';
import { serverOption } from '../own-server.ts';
import type { ServerPlace } from './hooked-server.ts';

/** The options of every command that installs hooks. */
export interface AgentOptions extends StorelessOptions, ServerPlace {
  readonly undo?: boolean;
  readonly check?: boolean;
  readonly yes?: boolean;
  readonly wait: number;
}

type Work<O> = (session: Session, options: O) => Promise<ExitCode>;

/** The three works of such a command. */
export interface AgentWorks<O> {
  readonly install: Work<O>;
  readonly undo: Work<O>;
  readonly check: Work<O>;
}

/** Adds the shared options to a command, and the work that they choose. */
export function withAgentWorks<O extends AgentOptions>(
  command: Command,
  works: AgentWorks<O>,
): void {
  const wait = new Option('--wait <s>', 'seconds that a call waits for a person');
  withoutStore(
    command
      .addOption(serverOption())
      .option('--url <url>', 'address of the server (default: that of its configuration)')
      .addOption(wait.argParser(upTo(WAIT_SECONDS_MAX)).default(20))
      .option('--yes', 'write without a question')
      .option('--undo', 'take the hooks out again, and revoke their token')
      .option(
        '--check',
        'only say whether the hooks are complete and in force, and the server answers',
      ),
  ).action(
    inSession((session: Session, options: O) => {
      if (options.check === true) return works.check(session, options);
      return options.undo === true ? works.undo(session, options) : works.install(session, options);
    }),
  );
}
