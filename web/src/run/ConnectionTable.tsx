import { Bar } from '../app/causes';
import { type Head, Section, Table } from '../app/parts';
import type { Connections } from './RunView';

interface Props {
  table: Connections;
  chosen: number | undefined;
  choose: (connection: number | undefined) => void;
}

/** The connections as a table. The chosen one appears in the budget. */
export function ConnectionTable({ table, chosen, choose }: Props) {
  const columns = table.columns.map(({ label, unit }): Head => [unit ? `${label}, ${unit}` : label, 'n']);
  const all = table.count === table.rows.length ? `${table.count}` : `the first ${table.rows.length} of ${table.count}`;
  return (
    <Section title="Connections" note={`${all}. Choose one to see its budget. Retransmissions and timeouts are those of the end that sends the data.`}>
      <Table label="Connections" heads={['Connection', ['Opened', 'n hide'], ...columns, 'Where the time went']}>
        {table.rows.map((row) => (
          <tr key={row.connection} class={row.connection === chosen ? 'on' : ''}>
            <td>
              <button
                type="button"
                class="plain"
                aria-pressed={row.connection === chosen}
                onClick={() => choose(row.connection === chosen ? undefined : row.connection)}
              >
                {row.connection}
                {row.ue !== null && `, UE ${row.ue}`}
              </button>
            </td>
            <td class="n hide">{row.opened}</td>
            {row.values.map((value, i) => (
              <td key={table.columns[i]?.name} class="n">
                {value}
              </td>
            ))}
            <td>{row.budget.length > 0 && <Bar parts={row.budget} height={12} label={`Connection ${row.connection}`} />}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
