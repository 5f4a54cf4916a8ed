import {
  apiToken,
  CliError,
  EXIT,
  type ExitCode,
  inSession,
  installedVersion,
  line,
  note,
  repeatable,
  type Session,
  type StorelessOptions,
  serverAddress,
  unanswered,
  withoutStore,
} from '@assize/command';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  ApiDesk,
  type Ask,
  Gateway,
  httpAsk,
  type QuestionKind,
  stdioEnd,
  type UpstreamSpec,
  undoCall,
  undoRun,
  upstreamOf,
} from '#mcp';
import { keepOutputFree, serveMcp } from './mcp-serve.ts';
import { type RulesPlace, rulesOptions, sandboxOfRules } from './sandbox/profile-in-force.ts';
import { openSandbox } from './sandbox/runtime.ts';

interface Options extends StorelessOptions, RulesPlace {
  readonly name?: string;
  readonly serve?: boolean;
  readonly decide?: boolean;
  readonly world: string;
  readonly agent?: string;
  readonly url: string;
  readonly tokenFile?: string;
  readonly elicitTokenFile?: string;
  readonly wait: number;
  readonly timeout: number;
  readonly resultBytes: number;
  readonly env: readonly string[];
  readonly inheritEnv?: boolean;
  readonly upstream?: string;
  readonly header: readonly string[];
  readonly bearer?: string;
  readonly questions: readonly QuestionKind[];
  readonly run?: string;
  readonly undo?: string | true;
  readonly sandbox?: boolean;
}

/** `assize mcp -- COMMAND`: an MCP client starts it in place of the server COMMAND. */
export function mcp(program: Command): void {
  const command = program.command('mcp');
  for (const option of rulesOptions()) command.addOption(option);
  withoutStore(
    command
      .description(
        'put an MCP server behind the rules of a server of Assize, or serve its ledger: one client, over pipes',
      )
      .argument('[command...]', 'the command of the MCP server, after --')
      .option('--name <name>', 'name of the MCP server in the rules file: its tools are NAME/TOOL')
      .option(
        '--serve',
        'serve the ledger, the memory and the inbox of the server of Assize itself, for reading',
      )
      .option(
        '--decide',
        'with --serve: the person of the token may also decide at the client, asked each time',
      )
      .option('--world <id>', 'trajectory of the domain gateway', 'calls')
      .option(
        '--agent <name>',
        'agent of the calls (default: the principal of the token, without agent:)',
      )
      .addOption(
        new Option('--url <url>', 'address of the server')
          .env('ASSIZE_URL')
          .default('http://127.0.0.1:4517'),
      )
      .option(
        '--token-file <file>',
        'file with a token of the agent, or of the reader with --serve (default: the environment variable ASSIZE_TOKEN)',
      )
      .option(
        '--elicit-token-file <file>',
        'token of a person: each program of this user that reads it can approve as the person',
      )
      .option(
        '--wait <seconds>',
        'how long a call waits for a person before it is answered as pending',
        whole,
        20,
      )
      .option('--timeout <seconds>', 'how long the MCP server may take for an answer', whole, 300)
      .option('--result-bytes <n>', 'larger results are passed on as links', whole, 65_536)
      .addOption(
        new Option(
          '--questions <kind...>',
          'questions of the server that reach the client, if the rules let them',
        )
          .choices(['elicitation', 'sampling', 'roots'])
          .default([]),
      )
      .option(
        '--run <name>',
        'the calls are those of this run; it holds its turns until the client leaves',
      )
      .option(
        '--undo [call]',
        'takes this call back by the tool that the rules name, or with --run all of the run, and ends',
      )
      .addOption(repeatable('--env <name>', 'variable of the environment that the MCP server gets'))
      .option(
        '--inherit-env',
        'the MCP server gets the whole environment, without the variables of Assize',
      )
      .option(
        '--upstream <variable>',
        'variable with the address of an MCP server over HTTP, in place of a command',
      )
      .addOption(
        repeatable(
          '--header <name=variable>',
          'header for that server, whose value is in a variable',
        ),
      )
      .option('--bearer <variable>', 'variable with a bearer token for that server')
      .option('--sandbox', 'the MCP server reads, writes and reaches only what the rules let it'),
  )
    .addHelpText(
      'after',
      '\nExample, in the configuration of an MCP client:\n' +
        '  assize mcp --name files --token-file ada.token -- npx @modelcontextprotocol/server-filesystem .\n' +
        '  assize mcp --serve --token-file grace.token\n',
    )
    .action(
      inSession((session: Session, options: Options, command: readonly string[]) =>
        options.serve === true
          ? serveMcp(session, options, command)
          : run(session, named(options), command),
      ),
    );
}

/** @throws CliError `usage` */
function named(options: Options): Options & { readonly name: string } {
  const { name, decide = false } = options;
  if (decide) throw new CliError('usage', 'Pass --decide only with --serve.');
  if (name === undefined)
    throw new CliError('usage', 'Pass the name of the MCP server: --name NAME. Or pass --serve.');
  if (options.undo === true && options.run === undefined)
    throw new CliError('usage', 'Name what is taken back: --undo CALL, or --run NAME --undo.');
  return { ...options, name };
}

async function run(
  { interruption, json, out }: Session,
  options: Options & { readonly name: string },
  words: readonly string[],
): Promise<ExitCode> {
  const spec = specOf(words, options);
  const { name: server, world, wait, timeout, resultBytes } = options;
  const version = installedVersion();
  const url = serverAddress(options.url);
  const token = apiToken(options.tokenFile);
  const ask = httpAsk(url, token);
  const agent = options.agent ?? (await ownAgent(ask, url));
  const { elicitTokenFile } = options;
  const desk = new ApiDesk({
    ...{ ask, world, server, agent, url, run: options.run },
    ...(elicitTokenFile !== undefined && { askAsPerson: httpAsk(url, apiToken(elicitTokenFile)) }),
  });
  keepOutputFree();
  const { sandboxed, closeSandbox } = await inSandbox(spec, { ...options, agent });
  const upstream = upstreamOf(sandboxed, {
    version,
    questions: options.questions,
    onWarning: note,
  });
  const limits = { waitMs: wait * 1_000, callMs: timeout * 1_000, resultBytes };
  const gateway = new Gateway({ upstream, desk, limits, onWarning: note });
  await gateway.tools();
  if (options.undo !== undefined) {
    const given = { server, signal: interruption };
    const { isUndone, text } =
      options.undo === true
        ? await undoRun(gateway, given)
        : await undoCall(gateway, { call: options.undo, ...given });
    await upstream.close();
    await closeSandbox();
    if (json) out.document({ undone: isUndone, detail: text });
    else out.line(line`${text}`);
    return isUndone ? EXIT.ok : EXIT.negative;
  }
  await stdioEnd({ gateway, server, version }, interruption);
  await closeSandbox();
  return EXIT.ok;
}

/** The MCP server as it is, or in a sandbox. @throws CliError */
async function inSandbox(
  spec: UpstreamSpec,
  options: Options & { readonly name: string; readonly agent: string },
): Promise<{ readonly sandboxed: UpstreamSpec; readonly closeSandbox: () => Promise<void> }> {
  if (options.sandbox !== true) return { sandboxed: spec, closeSandbox: async () => undefined };
  if ('url' in spec)
    throw new CliError('usage', 'A sandbox holds a command: name it after --, or leave --sandbox.');
  const { name: server, agent } = options;
  const { profile, project } = await sandboxOfRules(options, { server, agent });
  const { wrap, close } = await openSandbox(profile, project);
  const { program, args } = await wrap([spec.command, ...(spec.args ?? [])]);
  return { sandboxed: { ...spec, command: program, args }, closeSandbox: close };
}

/** @throws CliError `bad_input` */
async function ownAgent(ask: Ask, url: string): Promise<string> {
  const answer = await ask('/v1/me', { method: 'GET', headers: {} }).catch((cause: unknown) => {
    throw unanswered(url, cause);
  });
  const { name, detail = `status ${answer.status}` } = (await answer.json().catch(() => ({}))) as {
    readonly name?: string;
    readonly detail?: string;
  };
  if (name !== undefined) return name.replace(/^agent:/, '');
  throw new CliError('bad_input', `The server of Assize refused the token: ${detail}`);
}

/** The MCP server behind the gateway. @throws CliError `usage` */
function specOf([command, ...args]: readonly string[], options: Options): UpstreamSpec {
  const { upstream, header, bearer } = options;
  if ((command === undefined) === (upstream === undefined))
    throw new CliError(
      'usage',
      'Name the command of the MCP server after --, or its address with --upstream VARIABLE. Or pass --serve.',
    );
  if (command !== undefined) return { command, args, env: environment(options) };
  const url = variable(upstream ?? '');
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw new CliError(
      'usage',
      `The variable ${upstream} is not the address of an MCP server: it begins with https.`,
    );
  const headers = header.map((text): [string, string] => {
    const [, name = '', from = ''] = /^([^=]+)=(\w+)$/.exec(text) ?? [];
    if (name === '')
      throw new CliError('usage', `'${text}' names no header. Pass --header NAME=VARIABLE.`);
    return [name, variable(from)];
  });
  if (bearer !== undefined) headers.push(['authorization', `Bearer ${variable(bearer)}`]);
  return { url, headers: Object.fromEntries(headers) };
}

/** A value of the environment, where a command line would show it to other users. */
function variable(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new CliError('usage', `The variable ${name} is empty. Set it for the command.`);
}

/** The variables of the MCP server, beside the usual few. Those of Assize stay with the gateway. */
function environment({ env, inheritEnv = false }: Options): Record<string, string> {
  const all = Object.entries(process.env).filter(
    (one): one is [string, string] => one[1] !== undefined,
  );
  return Object.fromEntries(
    all.filter(([name]) => env.includes(name) || (inheritEnv && !name.startsWith('ASSIZE_'))),
  );
}

function whole(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
