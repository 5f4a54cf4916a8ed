import type { Json } from 'assize/internal/base';
import { describe, expect, test } from 'vitest';
import { dataPath } from '../../../../tests/data.ts';
import { TauData } from '../../../../tests/support/models/tau-data.ts';
import { airlineDesk } from './airline.ts';
import { outputOf, readTauSet, TAU_SETS } from './data.ts';
import { retailDesk } from './retail.ts';
import { TauService } from './service.ts';

const sets = new Map(TAU_SETS.map((name) => [name, readTauSet(name, dataPath())]));

describe.each(TAU_SETS)('%s', (name) => {
  const set = sets.get(name);
  const title = (what: string): string =>
    set === undefined ? `${what} (${name}, absent without ASSIZE_DATA)` : what;

  test.skipIf(set === undefined)(
    title('every task answers and leaves what the benchmark’s own tools do'),
    () => {
      const { desk, tasks } = set!;
      expect(tasks.length).toBe(name === 'tau-airline' ? 50 : 70);
      for (const task of tasks) {
        const service = new TauService(desk);
        const outputs = task.calls.map(
          (call) => service.call(call.name, call.arguments as Json).output,
        );
        expect(outputs, `task ${task.taskId}`).toEqual(task.outputs);
        expect(service.changed(), `task ${task.taskId}`).toEqual(task.changed);
      }
    },
  );
});

describe.skipIf(sets.get('tau-airline') === undefined)(
  'recorded runs (tau-airline, absent without ASSIZE_DATA)',
  () => {
    test('are answered as the benchmark’s own tools do', () => {
      const { desk } = sets.get('tau-airline')!;
      for (const run of new TauData('tau-airline').runs()) {
        const service = new TauService(desk);
        const outputs = run.calls.map(
          (call) => service.call(call.name, call.arguments as Json).output,
        );
        expect(outputs, `${run.task_id} ${run.trial}`).toEqual(run.outputs.map(outputOf));
        expect(service.changed()).toEqual(run.changed);
      }
    });
  },
);

const passenger = { first_name: 'Ada', last_name: 'L', dob: '1990-01-01' };
const address = {
  address1: '1 Way',
  address2: '',
  city: 'B',
  state: 'CA',
  country: 'USA',
  zip: '10000',
};

/** Three users, one reservation and one that is missing, one flight with three seats. */
function smallAirline(): TauService {
  const user = (id: string, reservations: string[]) => ({
    name: { first_name: id, last_name: 'L' },
    address: { ...address },
    email: `${id}@example.com`,
    dob: '1990-01-01',
    payment_methods: {
      card: { id: 'card', source: 'credit_card', brand: 'visa', last_four: '1234' },
    },
    saved_passengers: [],
    membership: 'regular',
    reservations,
  });
  const flight = {
    flight_number: 'F1',
    origin: 'JFK',
    destination: 'SEA',
    scheduled_departure_time_est: '06:00:00',
    scheduled_arrival_time_est: '08:00:00',
    dates: {
      '2024-05-20': {
        status: 'available',
        available_seats: { basic_economy: 3, economy: 3, business: 0 },
        prices: { basic_economy: 50, economy: 100, business: 300 },
      },
    },
  };
  const reservation = {
    reservation_id: 'R1',
    user_id: 'ada',
    origin: 'JFK',
    destination: 'SEA',
    flight_type: 'one_way',
    cabin: 'economy',
    flights: [
      { flight_number: 'F1', date: '2024-05-20', origin: 'JFK', destination: 'SEA', price: 100 },
    ],
    passengers: [passenger],
    payment_history: [{ payment_id: 'card', amount: 100 }],
    created_at: '2024-05-15T10:00:00',
    total_baggages: 0,
    nonfree_baggages: 0,
    insurance: 'no',
  };
  const records = {
    users: { ada: user('ada', ['R1']), bob: user('bob', []), eve: user('eve', ['gone']) },
    flights: { F1: flight },
    reservations: { R1: reservation },
  };
  return new TauService(airlineDesk(records as never));
}

const CERTIFICATE = { user_id: 'ada', amount: 50 };
const sent = (n: number): string =>
  `Certificate certificate_${n} added to user ada with amount 50.`;

describe('the service', () => {
  test('executes calls with one key once, and every call without a key', () => {
    const service = smallAirline();
    const first = service.call('send_certificate', CERTIFICATE, 'k');
    expect(first.output).toBe(sent(3221322));
    expect(service.call('send_certificate', CERTIFICATE, 'k')).toEqual(first);
    expect(service.call('send_certificate', CERTIFICATE).output).toBe(sent(3221323));
    expect(service.call('send_certificate', CERTIFICATE, 'l').output).toBe(sent(3221324));
    expect(service.log.map(({ did, key }) => [did, key])).toEqual([
      ['call', 'k'],
      ['again', 'k'],
      ['call', undefined],
      ['call', 'l'],
    ]);
  });

  test('reverts a change once, and only while its result is unchanged', () => {
    const service = smallAirline();
    const { change } = service.call('send_certificate', CERTIFICATE, 'k');
    const other = service.call('send_certificate', { ...CERTIFICATE, user_id: 'bob' }, 'l');
    const standing = service.changed();
    // Another call has changed the record since.
    const later = service.call('send_certificate', CERTIFICATE, 'm');
    expect(service.revert(change!)).toBe(false);
    expect(service.revert(later.change!)).toBe(true);
    expect(service.changed()).toEqual(standing);
    expect(service.revert(change!)).toBe(true);
    expect(service.revert(change!)).toBe(true);
    expect(Object.keys(service.changed()['users']!)).toEqual(['bob']);
    expect(service.revert(other.change!)).toBe(true);
    expect(service.changed()).toEqual({});
    expect(service.log.filter(({ did }) => did === 'revert')).toHaveLength(3);
  });

  test('reverts a record that did not exist before', () => {
    const service = smallAirline();
    const booking = {
      ...{
        user_id: 'bob',
        origin: 'JFK',
        destination: 'SEA',
        flight_type: 'one_way',
        cabin: 'economy',
      },
      flights: [{ flight_number: 'F1', date: '2024-05-20' }],
      passengers: [passenger],
      payment_methods: [{ payment_id: 'card', amount: 100 }],
      ...{ total_baggages: 0, nonfree_baggages: 0, insurance: 'no' },
    };
    const { output, change } = service.call('book_reservation', booking, 'k');
    expect(output).toMatchObject({ reservation_id: 'HATHAT', user_id: 'bob' });
    expect(Object.keys(service.changed()['reservations']!)).toEqual(['HATHAT']);
    expect(service.revert(change!)).toBe(true);
    expect(service.changed()).toEqual({});
    expect(service.ask('get_reservation_details', { reservation_id: 'HATHAT' })).toBe(
      'Error: reservation not found',
    );
  });

  test('answers a refused call and changes nothing', () => {
    const service = smallAirline();
    const unpaid = {
      reservation_id: 'R1',
      total_baggages: 1,
      nonfree_baggages: 1,
      payment_id: 'gift',
    };
    expect(service.call('update_reservation_baggages', unpaid, 'k')).toEqual({
      output: 'Error: payment method not found',
      change: null,
    });
    expect(service.call('fly', {}).output).toBe('Error: there is no tool fly');
    // Refused when it was half done.
    const late = { tool: 'send_certificate', input: { user_id: 'eve', amount: 50 } };
    expect(service.call(late.tool, late.input).output).toBe('Error: reservation not found');
    const eve = service.ask('get_user_details', { user_id: 'eve' }, [late]);
    expect(Object.keys((eve as { payment_methods: object }).payment_methods)).toEqual(['card']);
    expect(service.changed()).toEqual({});
  });

  test('answers reads as of the planned calls without executing them', () => {
    const service = smallAirline();
    const cancel = { tool: 'cancel_reservation', input: { reservation_id: 'R1' } };
    const seen = (planned: readonly (typeof cancel)[]) =>
      service.ask('get_reservation_details', { reservation_id: 'R1' }, planned) as {
        status?: string;
      };
    expect(seen([cancel]).status).toBe('cancelled');
    expect(seen([]).status).toBeUndefined();
    // A refused call has no planned effect.
    expect(seen([{ ...cancel, input: { reservation_id: 'none' } }]).status).toBeUndefined();
    expect(
      service.ask('send_certificate', CERTIFICATE, [
        { tool: 'send_certificate', input: CERTIFICATE },
      ]),
    ).toBe(sent(3221323));
    expect([service.changed(), service.log]).toEqual([{}, []]);
  });

  test('of the shop finds people by how they are now', () => {
    const user = {
      name: { first_name: 'Ada', last_name: 'L' },
      address,
      email: 'ada@example.com',
      payment_methods: {},
      orders: [],
    };
    const service = new TauService(retailDesk({ users: { ada: user }, products: {}, orders: {} }));
    const byZip = (zip: string) =>
      service.ask('find_user_id_by_name_zip', { first_name: 'ada', last_name: 'l', zip });
    expect([byZip('10000'), byZip('20000')]).toEqual(['ada', 'Error: user not found']);
    service.call('modify_user_address', { user_id: 'ada', ...address, zip: '20000' });
    expect([byZip('10000'), byZip('20000')]).toEqual(['Error: user not found', 'ada']);
    expect(service.ask('find_user_id_by_email', { email: 'ADA@example.com' })).toBe('ada');
  });
});
