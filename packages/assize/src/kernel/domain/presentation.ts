import { z } from 'zod';
import { parsePointer } from '#canon';

/** How an argument is shown. */
export interface PresentedField {
  /** Default: the name of the argument. */
  readonly label?: string | undefined;
  /**
   * An ISO 4217 code, or the argument that has it. A whole number counts minor units (cents), and a
   * text is a decimal number.
   */
  readonly money?: string | undefined;
  /** The value is a date, or an instant. */
  readonly date?: boolean | undefined;
  /** Written after a number: `kg`. */
  readonly unit?: string | undefined;
}

/**
 * An action in the words of the people who decide about it. An argument is named by its member, or
 * by a JSON Pointer. It changes nothing that is judged, so no hash has it.
 */
export interface Presentation {
  /** `Pay {to} {cents}`, with the names of arguments in braces. */
  readonly title?: string | undefined;
  /** By argument. */
  readonly fields?: Readonly<Record<string, PresentedField>> | undefined;
  /** The effect of an approval, shown before the decision. In the form of the title. */
  readonly confirm?: string | undefined;
}

/** For an action that calls a tool by its name: presentations by `server/tool`. */
export interface PresentedTools {
  readonly tools: Readonly<Record<string, Presentation>>;
}

/** An argument in a title. */
const PLACE = /\{([^{}]+)\}/g;
const TEMPLATE_MAX = 200;
const FIELDS_MAX = 100;

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

const name = z
  .string()
  .min(1)
  .max(TEMPLATE_MAX)
  .regex(/^(?:[^/{}]+|(?:\/(?:[^~{}/]|~[01])*)+)$/, 'is neither a name nor a JSON pointer');

const template = z
  .string()
  .min(1)
  .max(TEMPLATE_MAX)
  .refine((text) => !/[{}]/.test(text.replace(PLACE, '')), 'has a brace without an argument');

const field = z
  .strictObject({
    label: z.string().min(1).max(80).optional(),
    money: name
      .refine(
        (text) => !/^[A-Z]{3}$/.test(text) || CURRENCIES.has(text),
        'is not a currency of ISO 4217; write one such as EUR, or the argument that has it',
      )
      .optional(),
    date: z.boolean().optional(),
    unit: z.string().min(1).max(20).optional(),
  })
  .refine(
    ({ money, date, unit }) => [money, date, unit].filter(Boolean).length <= 1,
    'has several of money, date and unit; keep one',
  );

/** The form of a presentation, in a domain and in a rules file. */
export const presentation: z.ZodType<Presentation> = z.strictObject({
  title: template.optional(),
  fields: z
    .record(name, field)
    .refine((fields) => Object.keys(fields).length <= FIELDS_MAX, `has over ${FIELDS_MAX} fields`)
    .optional(),
  confirm: template.optional(),
});

/** The names of arguments in a text of a presentation. */
export function namesIn(text: string = ''): string[] {
  return [...text.matchAll(PLACE)].map(([, named]) => named as string);
}

/** An argument that a presentation names and a schema of objects lacks. */
export function strangerIn(
  { title, fields = {}, confirm }: Presentation,
  args: z.ZodType,
): string | undefined {
  const { shape } = args._zod.def as { readonly shape?: Readonly<Record<string, unknown>> };
  if (shape === undefined) return undefined;
  const money = Object.values(fields).flatMap((field) =>
    field.money === undefined || CURRENCIES.has(field.money) ? [] : [field.money],
  );
  const named = [...namesIn(title), ...namesIn(confirm), ...Object.keys(fields), ...money];
  return named.find(
    (one) => !Object.hasOwn(shape, one.startsWith('/') ? (parsePointer(one)[0] as string) : one),
  );
}
