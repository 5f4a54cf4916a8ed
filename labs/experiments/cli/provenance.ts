import { CliError, EXIT, inSession, line, type StorelessOptions } from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import { Polynomial } from 'assize/internal/memory/provenance';
import { type Command, Option } from 'commander';
import {
  BOOLEAN,
  type Carrier,
  MULTIDEGREE,
  MULTILINEAR,
  recoverByShift,
} from '../memory/provenance/index.ts';

const CARRIERS: Readonly<Record<string, Carrier<unknown>>> = {
  multidegree: MULTIDEGREE as Carrier<unknown>,
  multilinear: MULTILINEAR as Carrier<unknown>,
  boolean: BOOLEAN as Carrier<unknown>,
};

interface Options extends StorelessOptions {
  readonly carrier: string;
  readonly without?: string;
}

export function provenance(program: Command): void {
  program
    .command('provenance')
    .description('evaluate the provenance of a fact in a carrier, with or without a write')
    .argument('<polynomial>', 'provenance as recall --json returns it: w:…#0 + w:…#1*t:policy:v1')
    .addOption(
      new Option('--carrier <name>', 'carrier of the value')
        .choices(Object.keys(CARRIERS))
        .default('multidegree'),
    )
    .option(
      '--without <token>',
      'also evaluate it without this token: X := 0, and by the shift of Theorem 11',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  assize-experiments provenance "t:policy:v1 + t:policy:v2" --without t:policy:v1\n\n' +
        'The shift takes one of several occurrences, and none for a degree below 2. No store is needed.',
    )
    .action(
      inSession(({ json, out }, { carrier: name, without }: Options, text: string) => {
        const carrier = CARRIERS[name]!;
        const shown = (polynomial: Polynomial): string => carrier.text(carrier.project(polynomial));
        const value = asGiven(() => Polynomial.read(text));
        const told: { [member: string]: string } = { carrier: name, value: shown(value) };
        if (without !== undefined) {
          const left = value.substitute(
            asGiven(() => Polynomial.of(without)).tokens[0]!,
            Polynomial.zero,
          );
          const shifted = recoverByShift(value, without);
          told['without'] = shown(left);
          told['recovered'] =
            shifted === undefined ? 'not by shift: the degree is below 2' : shown(shifted);
        }
        if (json) out.document(told);
        else
          for (const [member, text] of Object.entries(told))
            out.line(line`${member.padEnd(10)} ${text}`);
        return Promise.resolve(EXIT.ok);
      }),
    );
}

/** @throws CliError */
function asGiven<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new CliError('bad_input', error.message, { cause: error });
  }
}
