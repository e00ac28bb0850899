import { number } from '../../status/words.ts'

/** A row: its name, what it is about, and figures: numbers, of which zeros are pale, or words. */
interface CountsRow {
  name: string
  about?: string | undefined
  cells: (number | string)[]
}

export function CountsTable(props: { head: string; columns: readonly string[]; rows: CountsRow[] }) {
  const { head, columns, rows } = props
  return (
    <table class="counts-table">
      <thead>
        <tr>
          {[head, ...columns].map((title, at) => (
            <th key={`${at} ${title}`} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, about, cells }) => (
          <tr key={name}>
            <th scope="row">
              {name} {about && <small>{about}</small>}
            </th>
            {cells.map((cell, at) => (
              <td key={`${at} ${columns[at]}`} class={cell === 0 ? 'zero' : ''}>
                {typeof cell === 'number' ? number(cell) : cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
