import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Lucene behind lines on standard input and output, so that time is taken beside the engine. Lines
 * in have parts between tabs; lines out are JSON.
 *
 *   Lucene build FOLDER   documents, one a line
 *   Lucene serve FOLDER   a question a line, an answer a line; first an empty answer when it is ready
 */
public class Lucene {
  static final BufferedReader in =
      new BufferedReader(new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8), 1 << 20);
  static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public static void main(String[] arguments) throws IOException {
    try (MMapDirectory directory = new MMapDirectory(Path.of(arguments[1]))) {
      if (arguments[0].equals("build")) build(directory);
      else serve(directory);
    }
  }

  static void build(MMapDirectory directory) throws IOException {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setRAMBufferSizeMB(256);
    // Documents lie in the order of most pages, so that a search stops when its page is full and
    // its count has reached the cap.
    config.setIndexSort(sortBy("published_at", false));
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        writer.addDocument(documentOf(line.split("\t", -1)));
      }
    }
  }

  static Document documentOf(String[] parts) {
    Document document = new Document();
    if (!parts[0].isEmpty()) document.add(new LongField("published_at", Long.parseLong(parts[0]), Field.Store.NO));
    document.add(new LongField("ingested_at", Long.parseLong(parts[1]), Field.Store.NO));
    document.add(new SortedDocValuesField("id", new BytesRef(parts[2])));
    document.add(new TextField("title", new Words(parts[3])));
    document.add(new TextField("body", new Words(parts[4])));
    for (String key : parts[5].split(" ")) document.add(new StringField("title_keys", key, Field.Store.NO));
    for (String key : parts[6].split(" ")) document.add(new StringField("keys", key, Field.Store.NO));
    for (String filter : parts[7].split(" ")) document.add(new StringField("filters", filter, Field.Store.NO));
    document.add(new StoredField("row", parts[8]));
    return document;
  }

  /** The words of a text that are separated by blanks, as they are. */
  static final class Words extends TokenStream {
    private final CharTermAttribute term = addAttribute(CharTermAttribute.class);
    private final String text;
    private int at = 0;

    Words(String text) {
      this.text = text;
    }

    @Override
    public boolean incrementToken() {
      if (at >= text.length()) return false;
      clearAttributes();
      int end = text.indexOf(' ', at);
      if (end < 0) end = text.length();
      term.append(text, at, end);
      at = end + 1;
      return true;
    }
  }

  static void serve(MMapDirectory directory) throws IOException {
    DirectoryReader reader = DirectoryReader.open(directory);
    IndexSearcher searcher = new IndexSearcher(reader);
    out.println("{}");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] parts = line.split("\t", -1);
      long start = System.nanoTime();
      int limit = Integer.parseInt(parts[0]);
      Sort sort = sortBy(parts[2], parts[3].equals("asc"));
      FieldDoc last = parts[4].isEmpty() ? null : lastOf(parts[4], parts[5], sort);
      TopFieldCollectorManager collectors = new TopFieldCollectorManager(sort, limit, last, Integer.parseInt(parts[1]));
      TopFieldDocs found = searcher.search(queryOf(parts), collectors);
      StoredFields stored = searcher.storedFields();
      List<String> rows = new ArrayList<>(limit);
      for (ScoreDoc one : found.scoreDocs) rows.add(stored.document(one.doc).get("row"));
      double ms = (System.nanoTime() - start) / 1e6;
      out.println("{\"rows\": [" + String.join(",", rows) + "], \"count\": " + found.totalHits.value() + ", \"ms\": " + ms + "}");
    }
  }

  /** Articles without a time stand last, and ids break ties in the same direction. */
  static Sort sortBy(String time, boolean ascending) {
    SortField times = LongField.newSortField(time, !ascending, SortedNumericSelector.Type.MIN);
    times.setMissingValue(ascending ? Long.MAX_VALUE : Long.MIN_VALUE);
    return new Sort(times, new SortField("id", SortField.Type.STRING, !ascending));
  }

  static FieldDoc lastOf(String time, String id, Sort sort) {
    Object value = time.equals("none") ? sort.getSort()[0].getMissingValue() : Long.valueOf(time);
    return new FieldDoc(Integer.MAX_VALUE, 0, new Object[] {value, new BytesRef(id)});
  }

  /** Conditions, each in four parts: its occurrence, kind, fields and words. */
  static Query queryOf(String[] parts) {
    if (parts.length == FIRST_CONDITION) return MatchAllDocsQuery.INSTANCE;
    BooleanQuery.Builder builder = new BooleanQuery.Builder();
    for (int at = FIRST_CONDITION; at < parts.length; at += 4) {
      BooleanQuery.Builder places = new BooleanQuery.Builder();
      for (String field : parts[at + 2].split(",")) {
        places.add(conditionOf(parts[at + 1], field, parts[at + 3].split(" ")), Occur.SHOULD);
      }
      builder.add(places.build(), Occur.valueOf(parts[at]));
    }
    return builder.build();
  }

  static final int FIRST_CONDITION = 6;

  static Query conditionOf(String kind, String field, String[] words) {
    return switch (kind) {
      case "range" -> LongField.newRangeQuery(field, Long.parseLong(words[0]), Long.parseLong(words[1]) - 1);
      case "phrase" -> new PhraseQuery(field, words);
      default -> words.length == 1
          ? new TermQuery(new Term(field, words[0]))
          : new TermInSetQuery(field, Arrays.stream(words).map(BytesRef::new).toList());
    };
  }
}
