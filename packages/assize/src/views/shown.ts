import type { Presentation, PresentedField, PresentedTools } from '#kernel';
import { cut, isolated, visible, visibleWords } from './visible.ts';

// A browser imports this file, so it imports no other code than `visible`.

/** An amount in whole minor units, such as cents. */
export interface Amount {
  readonly currency: string;
  readonly minor: number;
}

/** One argument as people read it. */
export interface ShownField {
  /** JSON Pointer into the arguments. */
  readonly at: string;
  readonly label: string;
  readonly text: string;
  readonly amount?: Amount;
  /** The presentation declares money, but the value could not be read as an amount. */
  readonly unread?: true;
}

/**
 * An action in words. No text has an unseen character, and each has a bounded length. In `title`
 * and `confirm` a text of an agent that is read from right to left is isolated (UAX 9).
 */
export interface Shown {
  /** The action, or `server/tool` of a call that an agent makes itself. */
  readonly called: string;
  readonly title: string;
  readonly fields: readonly ShownField[];
  readonly confirm?: string;
}

export interface ShownAction {
  readonly name: string;
  /** Model-controlled. Absent after an erasure. */
  readonly args?: unknown;
}

export type Presented = Presentation | PresentedTools;

/** The most characters of a title, of a value in it, of a field, and the most fields. */
const TITLE_MAX = 240;
const VALUE_MAX = 40;
const TEXT_MAX = 200;
const FIELDS_MAX = 40;
/** The most arguments in the title of an action without a presentation. */
const GUESSED_MAX = 4;
const PLACE = /\{([^{}]+)\}/g;

/**
 * The action by its presentation, or by a guess from the names and forms of its arguments. With
 * `named` no other arguments than those that the presentation names.
 */
export function shownOf(action: ShownAction, presented?: Presented, only?: 'named'): Shown {
  const { name, args: given, under } = calledIn(action);
  const present = presentationOf(action, presented);
  const args = only === undefined || present !== undefined ? given : undefined;
  const declared = Object.entries(present?.fields ?? {}).flatMap(([named, field]) =>
    fieldOf(args, named, field),
  );
  const { rest, used } = guessed(args);
  const guesses = only === undefined ? rest : [];
  const others = guesses.filter(
    ({ at }) =>
      !declared.some((one) => `${one.at}/`.startsWith(`${at}/`)) &&
      !(present === undefined && used.has(at)),
  );
  const fields = [...declared, ...others].slice(0, FIELDS_MAX);
  const written = (template: string): string =>
    visibleWords(
      template.replace(PLACE, (_, named: string) => {
        const at = pointerOf(named);
        const field =
          [...declared, ...rest].find((one) => one.at === at) ?? fieldOf(args, named, {})[0];
        return field === undefined ? '—' : inTitle(field);
      }),
      TITLE_MAX,
    );
  const called = line(name, TITLE_MAX);
  return {
    called,
    title:
      present?.title === undefined || args === undefined
        ? guessedTitle(called, fields)
        : written(present.title),
    fields: fields.map(({ isOwn: _, at, ...field }) => ({ at: `${under}${at}`, ...field })),
    ...(present?.confirm !== undefined && { confirm: written(present.confirm) }),
  };
}

/** The presentation of an action, or of the tool that it calls. */
export function presentationOf(action: ShownAction, presented?: Presented) {
  if (presented === undefined || !('tools' in presented)) return presented;
  const { name } = calledIn(action);
  return Object.hasOwn(presented.tools, name) ? presented.tools[name] : undefined;
}

/** A call of an agent program by its tool, in the domain `gateway`. Any other action by itself. */
function calledIn({ name, args }: ShownAction): ShownAction & { readonly under: string } {
  const { server, tool, args: input } = (name === 'call' && isObject(args) ? args : {}) as Members;
  return typeof server === 'string' && typeof tool === 'string' && isObject(input)
    ? { name: `${server}/${tool}`, args: input, under: '/args' }
    : { name, args, under: '' };
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `isOwn`: the text has no words of an agent. */
type ReadField = ShownField & { readonly isOwn: boolean };

/** Empty where the argument is absent. */
function fieldOf(args: unknown, named: string, field: PresentedField): ReadField[] {
  const path = pathOf(named);
  const value = valueAt(args, path);
  if (value === undefined) return [];
  const label = field.label ?? labelOf(path.at(-1) as string);
  return [{ at: pointerOf(named), label: line(label, VALUE_MAX), ...read(value, field, args) }];
}

function read(
  value: unknown,
  { money, date = false, unit }: PresentedField,
  args: unknown,
): Omit<ReadField, 'at' | 'label'> {
  const isNumber = typeof value === 'number';
  if (money !== undefined) {
    const currency = isCurrency(money) ? money : valueAt(args, pathOf(money));
    const amount = isCurrency(currency) ? amountOf(currency, value) : undefined;
    if (amount !== undefined) return { text: amountText(amount), amount, isOwn: true };
    const named = typeof currency === 'string' && isScalar(value) ? ` ${currency}` : '';
    const text = line(`${plainText(value)}${named}`, TEXT_MAX);
    return { text, unread: true, isOwn: false };
  }
  const day = date && typeof value === 'string' ? dateText(value) : undefined;
  if (day !== undefined) return { text: day, isOwn: true };
  if (unit !== undefined && isScalar(value))
    return { text: line(`${value} ${unit}`, TEXT_MAX), isOwn: isNumber };
  return {
    text: line(plainText(value), TEXT_MAX),
    isOwn: typeof value !== 'string' && !Array.isArray(value),
  };
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** Without the parts of a list or an object in another one: that can be deep. */
function plainText(value: unknown): string {
  if (!Array.isArray(value))
    return isObject(value) ? counted(Object.keys(value).length, 'member') : String(value);
  return value.length <= 5 && value.every((one) => isScalar(one))
    ? value.join(', ')
    : counted(value.length, 'item');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * The top members of the arguments. `used`: the currencies that the texts of their amounts have.
 */
function guessed(args: unknown): { rest: ReadField[]; used: ReadonlySet<string> } {
  const used = new Set<string>();
  const members = isObject(args) ? Object.keys(args).slice(0, FIELDS_MAX) : [];
  const rest = members.flatMap((name) => {
    const field = guessOf(name, (args as Members)[name], args as Members);
    if (field.money !== undefined) used.add(pointerOf(`/${escaped(field.money)}`));
    return fieldOf(args, `/${escaped(name)}`, field);
  });
  return { rest, used };
}

/** Cents or a decimal number with a currency beside them, and a date in the form of ISO 8601. */
function guessOf(name: string, value: unknown, args: Members): PresentedField {
  const short = /^(?:(.*?)_?)cents$/i.exec(name)?.[1];
  const beside = ['currency', `${short ?? name}_currency`].find(
    (one) => Object.hasOwn(args, one) && isCurrency(args[one]),
  );
  if (beside !== undefined && (short === undefined ? isDecimal(value) : Number.isInteger(value)))
    return {
      money: beside,
      ...(short !== undefined && { label: short === '' ? 'Amount' : labelOf(short) }),
    };
  return { date: true };
}

function isDecimal(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d+\.\d{2,}$/.test(value);
}

/** `pay: to carla, cents 5`. Long and nested arguments are left out. */
function guessedTitle(name: string, fields: readonly ReadField[]): string {
  const short = fields.filter(({ text }) => text.length <= VALUE_MAX).slice(0, GUESSED_MAX);
  const told = short.map((one) => `${isolated(one.label.toLowerCase())} ${inTitle(one)}`);
  const parts = [isolated(name), told.join(', ')];
  return visibleWords(parts.filter((part) => part !== '').join(': '), TITLE_MAX);
}

/**
 * A text among words of others. A text of an agent that is more than a name is quoted, so it cannot
 * continue the title.
 */
function inTitle({ text, isOwn }: ReadField): string {
  const short = cut(text, VALUE_MAX);
  const isName = isOwn || /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._:@/+-]*$/u.test(short);
  return isolated(isName ? short : `"${short.replaceAll('"', "'")}"`);
}

/** `amount_cents` → `Amount cents`; `payTo` → `Pay to`. */
function labelOf(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim();
  return words === '' ? name : words[0]!.toUpperCase() + words.slice(1).toLowerCase();
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return valueAt((value as Members)[name], rest);
}

/** A name is a member or a JSON Pointer (RFC 6901). */
function pathOf(named: string): string[] {
  if (!named.startsWith('/')) return [named];
  const parts = named.slice(1).split('/');
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function pointerOf(named: string): string {
  return named.startsWith('/') ? named : `/${escaped(named)}`;
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** One line of at most `max` characters, with unseen characters as codes. */
function line(text: string, max: number): string {
  return cut(visible(cut(text, max)), max);
}

/** `5 Jun 2026`, or `5 Jun 2026, 14:05 UTC`. Undefined for another text. */
function dateText(text: string): string | undefined {
  const [, day, time] =
    /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? [];
  const at = new Date(`${day}${time ?? 'T00:00Z'}`);
  if (day === undefined || Number.isNaN(at.getTime())) return undefined;
  return time === undefined ? DAY.format(at) : `${MINUTE.format(at)} UTC`;
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const MINUTE = new Intl.DateTimeFormat('en-GB', {
  ...{ dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' },
});

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

function isCurrency(text: unknown): text is string {
  return typeof text === 'string' && CURRENCIES.has(text);
}

/** A whole number counts minor units, and a text is a decimal number of at most their places. */
function amountOf(currency: string, value: unknown): Amount | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { currency, minor: value } : undefined;
  const minor = typeof value === 'string' ? minorOf(currency, value) : undefined;
  return minor === undefined ? undefined : { currency, minor };
}

/** Minor units of a decimal number: 124000 of `1240.00` EUR. Undefined for another text. */
export function minorOf(currency: string, text: string): number | undefined {
  const [, sign = '', whole = '', part = ''] =
    /^(-?)(\d{1,16})(?:\.(\d+))?$/.exec(text.trim()) ?? [];
  const places = placesOf(currency);
  if (whole === '' || part.length > places) return undefined;
  const minor = Number(`${sign}${whole}${part.padEnd(places, '0')}`);
  return Number.isSafeInteger(minor) ? minor + 0 : undefined;
}

/** `1240.00` of 124000 minor units of EUR. */
export function majorText({ currency, minor }: Amount): string {
  const places = placesOf(currency);
  const digits = String(Math.abs(minor)).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  const sign = minor < 0 ? '-' : '';
  return places === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-places)}`;
}

/** `€1,240.00`. */
export function amountText(amount: Amount): string {
  // A text is formatted without the rounding of a number. Its type is not known to each compiler.
  const text = majorText(amount) as unknown as number;
  return formatOf(amount.currency).format(text).replaceAll('\u00a0', ' ');
}

function placesOf(currency: string): number {
  return formatOf(currency).resolvedOptions().maximumFractionDigits ?? 2;
}

const FORMATS = new Map<string, Intl.NumberFormat>();

function formatOf(currency: string): Intl.NumberFormat {
  let format = FORMATS.get(currency);
  if (format === undefined) {
    format = new Intl.NumberFormat('en', { style: 'currency', currency });
    FORMATS.set(currency, format);
  }
  return format;
}
