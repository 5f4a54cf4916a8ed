import { amountText, majorText, minorOf, type ShownField } from 'assize/internal/views/shown.ts';
import { createContext, useContext } from 'react';
import type { FieldProps } from './field-props.ts';
import { numberOf, numberText } from './number-text.ts';
import { toPointer } from './pointer.ts';

/** The arguments that are amounts in minor units, by their pointers. */
export const Amounts = createContext<ReadonlyMap<string, ShownField>>(new Map());

/** How a number field reads and writes: `1240.00` for 124000 cents, or the number itself. */
export function useNumberText({ path, part: { schema }, isRequired }: FieldProps) {
  const { label, amount } = useContext(Amounts).get(toPointer(path)) ?? {};
  if (amount === undefined || schema.type !== 'integer')
    return { write: numberText, read: numberOf, words: {} };
  const { currency } = amount;
  const bound = (word: string, minor: number | undefined) =>
    minor === undefined ? [] : `${word} ${amountText({ currency, minor })}`;
  return {
    write: (value: unknown) =>
      typeof value === 'number' && Number.isSafeInteger(value)
        ? majorText({ currency, minor: value })
        : numberText(value),
    // The schema refuses a text that is not a decimal number.
    read: (text: string) =>
      text.trim() === '' ? undefined : (minorOf(currency, ungrouped(text)) ?? text),
    words: {
      label: `${label}, ${currency}${isRequired ? '' : ' (optional)'}`,
      description: [
        ...[schema.description ?? []],
        ...[bound('from', schema.minimum), bound('to', schema.maximum)],
      ]
        .flat()
        .join(' '),
    },
  };
}

/** Without the commas between thousands, as `amountText` writes them. */
function ungrouped(text: string): string {
  return /^\s*-?\d{1,3}(?:,\d{3})+(?:\.|\s*$)/.test(text) ? text.replaceAll(',', '') : text;
}
