import type { BankAddress } from './bank-sink.ts';
import type { Bank } from './expenses.ts';

/** The bank over HTTP, for the tool of a server in any process. */
export function bankAt({ url, secret }: BankAddress): Bank {
  const send = async (method: string, key: string, body?: object): Promise<Response> => {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'idempotency-key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`The bank answered ${response.status}.`);
    return response;
  };
  return {
    pay: async (key, order) => {
      const { payment } = (await (await send('POST', key, order)).json()) as {
        readonly payment: string;
      };
      return payment;
    },
    refund: async (key) => {
      await send('DELETE', key);
    },
  };
}
